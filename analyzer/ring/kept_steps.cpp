// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/kept_steps.hpp"

#include "analyzer/ring/kept_results.hpp"

namespace ringside {

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
