// SPDX-License-Identifier: BSD-3-Clause
// The steps that a ring keeps, for the journal, which may lack some of them (journal_rebuild.hpp).
#pragma once

#include <vector>

#include "common/records/recorded_step.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

/// A kept step's figures, with `rebuilt` set and without the analyzer's measurements. The payload is not read.
StepFigures figures_of(const RingView& ring, const KeptSlot& kept);

/// Every kept step, with `rebuilt` set, by ascending commit_seq. The payloads are not read. Requires that no process
/// writes to the ring meanwhile.
std::vector<RecordedStep> kept_steps(const RingView& ring);

}  // namespace ringside
