// What the ring still knows and the journal does not: an analyzer that starts writes it anew, so that within the ring's
// window the journal has no gap and no duplicate, whatever became of its logs.
#pragma once

#include <string>
#include <vector>

#include "analyzer/ring_view.hpp"
#include "common/step_figures.hpp"

namespace ringside {

/// What the ring knows of each iterate it keeps, with `rebuilt` set, by ascending commit_seq. The payloads are not
/// read. While nobody writes to the ring.
std::vector<StepFigures> kept_steps(const RingView& ring);

/// Those of `kept` whose run, iteration and commit_seq no step record of the pool's journal names. Throws Error as
/// JournalReader::open.
std::vector<StepFigures> missing_in_journal(const std::string& pool, std::vector<StepFigures> kept);

}  // namespace ringside
