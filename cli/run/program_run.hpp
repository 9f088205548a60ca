// SPDX-License-Identifier: BSD-3-Clause
// `ringside run -- PROGRAM`: the course of a run whose solver is a program of the user's (docs/library.md).
#pragma once

#include "cli/run/run_options.hpp"

namespace ringside {

/// options.program: not empty.
ExitCode run_user_program(const CommandLine& line, RunOptions options);

}  // namespace ringside
