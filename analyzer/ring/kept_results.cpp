// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/kept_results.hpp"

#include <memory>
#include <vector>

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

/// The layout for a step without results: the one of its run's descriptions that has the fewest scalars, because an
/// absent scalar must not be read as 0.
SharedLayout KeptResults::layout_without_results(const Id128& run_id) {
  const auto [place, is_new] = layouts_.try_emplace({run_id, 0});
  if (!is_new) return place->second;
  const auto scalars = [](const SharedLayout& layout) { return layout->catalogue().scalars().size(); };
  for (const KnownRun& run : described_runs(ring_)) {
    if (run.run_id == run_id && (!place->second || scalars(run.layout) < scalars(place->second))) {
      place->second = run.layout;
    }
  }
  return place->second;
}

StepFigures figures_of(const RingView& ring, const KeptSlot& kept) {
  StepFigures figures{};
  figures.rebuilt = true;
  figures.run_id = kept.header.run_id;
  figures.commit_seq = kept.header.commit_seq;
  figures.bytes_transferred = ring.geometry().payload_bytes();
  if (const auto step = verified_step(ring, kept)) figures.step = step->descriptor;
  figures.step.step = kept.header.step;
  figures.step.iteration = kept.header.iteration;
  return figures;
}

std::vector<RecordedStep> kept_steps(const RingView& ring) {
  std::vector<RecordedStep> steps;
  KeptResults results(ring);
  for (const KeptSlot& kept : recover(ring).kept) {
    steps.push_back({.figures = figures_of(ring, kept), .results = results.of(kept)});
  }
  return steps;
}

}  // namespace ringside
