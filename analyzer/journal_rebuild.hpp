// What the journal lacks when a run is taken in: an analyzer that was killed had committed steps that it had not yet
// recorded, a journal that was given up or switched off knows nothing of a whole life. What the ring still keeps of
// them is recorded anew; what it does not is named. So each committed step has a record or is named as one without.
//
// A commit is identified by its run and its commit_seq: steps count from 0 again in each attachment, commit_seq goes on
// for as long as the pool lives.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "analyzer/missing_steps.hpp"
#include "common/step_figures.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// What is to be written to a journal before a run goes on, in this order.
using CatchUp = std::vector<std::variant<MissingSteps, StepFigures>>;

/// Those of `kept` whose run, iteration and commit_seq no step record of the pool's journal names, and before, between
/// and after them the commits of these runs that neither the journal nor `kept` has. started: the run that is taken in;
/// its first_commit_seq says up to where there were commits. Throws Error as JournalReader::open.
CatchUp catch_up(const std::string& pool, const std::vector<StepFigures>& kept, const wire::RunStarted& started);

}  // namespace ringside
