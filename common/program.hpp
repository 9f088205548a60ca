// What the three programs' main functions share: the only place that catches everything.
#pragma once

#include <functional>

namespace ringside {

/// Checks the environment, runs `body` and returns its exit code. An Error becomes its line on standard error and its
/// exit code; anything else that was thrown a line of its own and kSystem. So does a standard output that did not take
/// all that was printed, where `body` had no failure of its own; if it is a pipe whose reader went away, the process
/// ends by SIGPIPE without a line.
int run_program(const std::function<int()>& body) noexcept;

}  // namespace ringside
