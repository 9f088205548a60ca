// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/kept_results.hpp"

#include <memory>
#include <vector>

#include "common/platform/error.hpp"
#include "common/reductions/reduction_catalogue.hpp"

namespace ringside {

StepResults KeptResults::of(const KeptSlot& kept) {
  SlotResults recorded;
  const bool has_results = ring_.results(kept.slot, kept.header, recorded) == ResultsState::kRecorded;
  SharedLayout layout = has_results ? layout_of(kept.header.run_id, recorded.catalogue_hash) : nullptr;
  if (layout && layout->catalogue().words() != recorded.words.size()) layout = nullptr;  // forged
  if (!layout) {
    recorded.words.clear();
    layout = layout_without_results(kept.header.run_id);
  }
  if (!layout) return {};
  const std::optional<StepWithScalars> step = verified_step(ring_, kept);
  std::vector<std::uint64_t> words(layout->words());
  layout->gather(recorded.words, step ? &*step : nullptr, words);
  return {layout, words};
}

SharedLayout KeptResults::layout_of(const Id128& run_id, std::uint64_t catalogue) {
  const auto [place, is_new] = layouts_.try_emplace({run_id, catalogue});
  if (!is_new) return place->second;
  const Schema& schema = ring_.geometry().schema();
  if (auto recorded = ring_.catalogue(run_id, catalogue)) {
    place->second = std::make_shared<const RecordLayout>(schema, std::move(*recorded));
  } else if (auto usual = usual_catalogue(schema, catalogue)) {
    place->second = std::make_shared<const RecordLayout>(schema, std::move(*usual));
  }
  return place->second;
}

/// For a step without results: among the descriptions of its run, the one with the fewest scalars. An absent scalar
/// must not be read as 0.
SharedLayout KeptResults::layout_without_results(const Id128& run_id) {
  const auto [place, is_new] = layouts_.try_emplace({run_id, 0});
  if (!is_new) return place->second;
  const Schema& schema = ring_.geometry().schema();
  for (const RunReading& reading : ring_.runs()) {
    if (reading.run.run_id != run_id) continue;
    try {
      Catalogue catalogue = Catalogue::decode(schema, reading.catalogue, "catalogue");
      const bool fewer = !place->second || catalogue.scalars().size() < place->second->catalogue().scalars().size();
      if (fewer) place->second = std::make_shared<const RecordLayout>(schema, std::move(catalogue));
    } catch (const Error&) {  // its hash holds, but a program that can write the file can also forge a hash
    }
  }
  return place->second;
}

}  // namespace ringside
