// SPDX-License-Identifier: BSD-3-Clause
// `ringside run -- PROGRAM`: a run whose solver is a program of the user. Either this process starts the program, or
// the program has started this process (docs/publish/library.md).
#pragma once

#include <string>
#include <vector>

#include "cli/run/attendance.hpp"
#include "cli/run/run_options.hpp"

namespace ringside {

/// options.program must not be empty.
ExitCode run_user_program(const CommandLine& line, RunOptions options);

/// Serves a run of a program that is already running. `words` are the options, which `line` declares. Reports refusals
/// to the program.
ExitCode attend_program(CommandLine& line, RunOptions& options, Attendance& attendance, std::vector<std::string> words);

}  // namespace ringside
