// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/kept_steps.hpp"

#include "analyzer/ring/ring_recovery.hpp"

namespace ringside {
namespace {

StepFigures figures_of(const RingView& ring, const KeptSlot& kept) {
  StepFigures figures;
  figures.rebuilt = true;
  figures.run_id = kept.header.run_id;
  figures.commit_seq = kept.header.commit_seq;
  figures.bytes_transferred = ring.geometry().payload_bytes();
  // The header's hash covers the step descriptor and the chunk hashes: no payload is read.
  const SlotStep step = ring.step(kept.slot);
  const std::uint64_t hash = payload_hash(ring.chunk_hashes(kept.slot), step, ring.geometry().step_bytes());
  if (hash == kept.header.payload_hash) figures.step = step.descriptor;
  figures.step.step = kept.header.step;
  figures.step.iteration = kept.header.iteration;
  Reductions reductions;
  if (ring.geometry().schema().is_x_only() &&
      ring.reductions(kept.slot, kept.header, reductions) == ResultsState::kRecorded) {
    figures.reductions = scalars_of(reductions);
  }
  return figures;
}

}  // namespace

std::vector<StepFigures> kept_steps(const RingView& ring) {
  std::vector<StepFigures> steps;
  for (const KeptSlot& kept : recover(ring).kept) steps.push_back(figures_of(ring, kept));
  return steps;
}

}  // namespace ringside
