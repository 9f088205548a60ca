// SPDX-License-Identifier: BSD-3-Clause
// The steps that a ring keeps, for the journal, which may lack some of them (journal_rebuild.hpp).
#pragma once

#include <vector>

#include "analyzer/ring/ring_view.hpp"
#include "common/records/step_figures.hpp"

namespace ringside {

/// The figures of each kept iterate, with `rebuilt` set, by ascending commit_seq. The payloads are not read. Requires
/// that no process writes to the ring meanwhile.
std::vector<StepFigures> kept_steps(const RingView& ring);

}  // namespace ringside
