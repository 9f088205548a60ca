// SPDX-License-Identifier: BSD-3-Clause
// The part that the three programs' main functions share: the only place that catches everything.
#pragma once

#include <functional>

namespace ringside {

/// Checks the environment, runs `body` and returns its exit code. An Error becomes one line on standard error and its
/// exit code; any other exception becomes one line and kSystem. If `body` succeeds but standard output did not accept
/// everything that was printed, the result is a line and kSystem, too. If standard output is a pipe whose reader has
/// gone, the process dies of SIGPIPE without a line.
int run_program(const std::function<int()>& body) noexcept;

}  // namespace ringside
