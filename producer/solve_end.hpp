// SPDX-License-Identifier: BSD-3-Clause
// What the end of a run means: for the program's exit code, for the analyzer, and in words.
#pragma once

#include <cstdint>

#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "producer/account.hpp"
#include "producer/solve_loop.hpp"

namespace ringside {

ExitCode exit_code_of(SolveEnd end) noexcept;

/// RINGSIDE_OUTCOME_...
std::uint32_t outcome_of(SolveEnd end) noexcept;

/// Throws Error (exit code 2) if the solver diverged or broke down; its line says what was found.
void refuse_solution(const SolveRun& run, SolveEnd end);

}  // namespace ringside
