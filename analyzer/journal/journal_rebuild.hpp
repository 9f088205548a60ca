// SPDX-License-Identifier: BSD-3-Clause
// Finds what the journal lacks when a run is admitted. A killed analyzer may have committed steps without recording
// them, and no step is recorded while the journal is switched off, or after the journal was given up because of an
// error. Steps that the ring still keeps are recorded anew; the others are recorded as missing. So each committed step
// has a record or is recorded as missing.
//
// A commit is identified by its run and its commit_seq: the numbers of steps begin with 0 in each attachment, whereas
// commit_seq rises as long as the pool exists.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "common/records/step_figures.hpp"
#include "common/records/step_results.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// What must be written to the journal before a run continues, in the order of writing.
using CatchUp = std::vector<std::variant<MissingSteps, RecordedStep>>;

/// Returns, in commit order: the steps of `kept` whose run, iteration and commit_seq are in no step record of the
/// pool's journal; and, as missing, the commits of these runs that are neither in the journal nor in `kept`. started:
/// the admitted run; all earlier commits are below its first_commit_seq. last_iteration: the iteration of the step
/// before from_step of `started`; 0: no such step, or unknown. see: called with each record of the journal, in order.
/// Throws Error as JournalReader::open does.
CatchUp catch_up(const std::string& pool, const std::vector<RecordedStep>& kept, const wire::RunStarted& started,
                 std::uint64_t last_iteration, const std::function<void(const wire::Record&)>& see = {});

}  // namespace ringside
