// SPDX-License-Identifier: BSD-3-Clause
// The common part of the programs' main functions, and the only place that catches all exceptions.
#pragma once

#include <functional>
#include <string_view>

namespace ringside {

/// The message for std::bad_alloc.
inline constexpr std::string_view kOutOfMemory = "out of memory; free some, or use a smaller matrix";

/// Call it in a catch block. Prints the exception as one line on standard error. Returns the exit code of an Error, or
/// kSystem for any other exception.
int fail_with_caught() noexcept;

/// Checks the environment, runs `body` and returns its exit code. For an Error, prints one line on standard error and
/// returns the Error's exit code; for any other exception, prints one line and returns kSystem. If `body` succeeds but
/// standard output did not accept everything that was printed, also prints one line and returns kSystem. If standard
/// output is a pipe whose reader has gone, the process dies of SIGPIPE without a line.
int run_program(const std::function<int()>& body) noexcept;

}  // namespace ringside
