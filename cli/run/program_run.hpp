// SPDX-License-Identifier: BSD-3-Clause
// `ringside run -- PROGRAM`: a run whose solver is a program of the user. Either we start the program, or it has
// started us (docs/publish/library.md).
#pragma once

#include <string>
#include <vector>

#include "cli/run/attendance.hpp"
#include "cli/run/run_options.hpp"

namespace ringside {

/// options.program must not be empty.
ExitCode run_user_program(const CommandLine& line, RunOptions options);

/// The same for a program that runs already, with the options in `words`, as declared in `line`. Reports refusals to
/// the program.
ExitCode attend_program(CommandLine& line, RunOptions& options, Attendance& attendance, std::vector<std::string> words);

}  // namespace ringside
