// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/kept_steps.hpp"

#include <optional>

#include "analyzer/ring/ring_recovery.hpp"
#include "common/telemetry/first_field.hpp"

namespace ringside {
namespace {

/// What is shown of the results of a slot. Consecutive slots mostly are of one run, whose catalogue is read once.
class KeptResults {
 public:
  explicit KeptResults(const RingView& ring) : ring_(ring) {}

  ReductionScalars scalars(const KeptSlot& kept) {
    if (ring_.geometry().schema().is_x_only()) {  // known even if the description of the run is lost
      Reductions reductions;
      const bool recorded = ring_.reductions(kept.slot, kept.header, reductions) == ResultsState::kRecorded;
      return recorded ? scalars_of(reductions) : ReductionScalars();
    }
    SlotResults results;
    if (ring_.results(kept.slot, kept.header, results) != ResultsState::kRecorded) return {};
    if (!catalogue_ || run_id_ != kept.header.run_id || hash_ != results.catalogue_hash) {
      run_id_ = kept.header.run_id;
      hash_ = results.catalogue_hash;
      catalogue_ = ring_.catalogue(run_id_, hash_);
      if (catalogue_) first_field_.emplace(ring_.geometry().schema(), *catalogue_);
    }
    const bool known = catalogue_ && catalogue_->words() == results.words.size();
    return known ? first_field_->scalars(results.words) : ReductionScalars();
  }

 private:
  const RingView& ring_;
  Id128 run_id_;
  std::uint64_t hash_ = 0;
  std::optional<Catalogue> catalogue_;
  std::optional<FirstField> first_field_;
};

StepFigures figures_of(const RingView& ring, const KeptSlot& kept, KeptResults& results) {
  StepFigures figures;
  figures.rebuilt = true;
  figures.run_id = kept.header.run_id;
  figures.commit_seq = kept.header.commit_seq;
  figures.bytes_transferred = ring.geometry().payload_bytes();
  if (const auto step = verified_step(ring, kept)) figures.step = step->descriptor;
  figures.step.step = kept.header.step;
  figures.step.iteration = kept.header.iteration;
  figures.reductions = results.scalars(kept);
  return figures;
}

}  // namespace

std::vector<StepFigures> kept_steps(const RingView& ring) {
  std::vector<StepFigures> steps;
  KeptResults results(ring);
  for (const KeptSlot& kept : recover(ring).kept) steps.push_back(figures_of(ring, kept, results));
  return steps;
}

}  // namespace ringside
