// SPDX-License-Identifier: BSD-3-Clause
// `ringside run -- PROGRAM`: the course of a run whose solver is a program of the user's, which we start, or which has
// started us (docs/publish/library.md).
#pragma once

#include <string>
#include <vector>

#include "cli/run/attendance.hpp"
#include "cli/run/run_options.hpp"

namespace ringside {

/// options.program: not empty.
ExitCode run_user_program(const CommandLine& line, RunOptions options);

/// The same beside a program that runs already, with the options in `words`, which were declared in `line`. The program is told
/// what is refused.
ExitCode attend_program(CommandLine& line, RunOptions& options, Attendance& attendance, std::vector<std::string> words);

}  // namespace ringside
