// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/kept_steps.hpp"

#include "analyzer/ring/kept_results.hpp"
#include "common/ring/ring_recovery.hpp"

namespace ringside {
namespace {

RecordedStep recorded(const RingView& ring, const KeptSlot& kept, KeptResults& results) {
  RecordedStep recorded{.figures = {}, .results = results.of(kept)};
  StepFigures& figures = recorded.figures;
  figures.rebuilt = true;
  figures.run_id = kept.header.run_id;
  figures.commit_seq = kept.header.commit_seq;
  figures.bytes_transferred = ring.geometry().payload_bytes();
  if (const auto step = verified_step(ring, kept)) figures.step = step->descriptor;
  figures.step.step = kept.header.step;
  figures.step.iteration = kept.header.iteration;
  return recorded;
}

}  // namespace

std::vector<RecordedStep> kept_steps(const RingView& ring) {
  std::vector<RecordedStep> steps;
  KeptResults results(ring);
  for (const KeptSlot& kept : recover(ring).kept) steps.push_back(recorded(ring, kept, results));
  return steps;
}

}  // namespace ringside
