// SPDX-License-Identifier: BSD-3-Clause
// The trials of a user's program: `ringside run --cores auto -- PROGRAM` takes the best one for the run, and `ringside
// plan -- PROGRAM` prints all of them (docs/inside/model.md, "Trials of a program").
#pragma once

#include <optional>

#include "cli/run/run_options.hpp"

namespace ringside {

/// Throws Error (exit code 2) if the program of these options cannot be tried, because it consists of ranks.
void refuse_trials_of_ranks(const RunOptions& options);

/// Makes the trials and sets the chosen cores and --reduce in `options`; if the first trial fails, keeps the defaults.
/// With options.plan, prints the trials instead, and throws Error if the first trial fails. Returns an exit code if no
/// run is to begin.
std::optional<ExitCode> choose_by_trials(const CommandLine& line, RunOptions& options);

}  // namespace ringside
