// What a ring knows of the steps it keeps: for the journal, which may lack some of them (journal_rebuild.hpp).
#pragma once

#include <vector>

#include "analyzer/ring_view.hpp"
#include "common/step_figures.hpp"

namespace ringside {

/// What the ring knows of each iterate it keeps, with `rebuilt` set, by ascending commit_seq. The payloads are not
/// read. Requires that no process writes to the ring meanwhile.
std::vector<StepFigures> kept_steps(const RingView& ring);

}  // namespace ringside
