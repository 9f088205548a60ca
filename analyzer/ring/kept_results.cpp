// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/kept_results.hpp"

namespace ringside {

std::optional<ReductionScalars> KeptResults::shown(const KeptSlot& kept) {
  const Schema& schema = ring_.geometry().schema();
  if (schema.is_x_only()) {  // known even if the description of the run is lost
    Reductions reductions;
    if (ring_.reductions(kept.slot, kept.header, reductions) != ResultsState::kRecorded) return std::nullopt;
    return scalars_of(reductions);
  }
  SlotResults results;
  if (ring_.results(kept.slot, kept.header, results) != ResultsState::kRecorded) return std::nullopt;
  if (!catalogue_ || run_id_ != kept.header.run_id || hash_ != results.catalogue_hash) {
    run_id_ = kept.header.run_id;
    hash_ = results.catalogue_hash;
    catalogue_ = ring_.catalogue(run_id_, hash_);
    if (catalogue_) first_field_.emplace(schema, *catalogue_);
  }
  if (!catalogue_ || catalogue_->words() != results.words.size()) return std::nullopt;
  return first_field_->scalars(results.words);
}

}  // namespace ringside
