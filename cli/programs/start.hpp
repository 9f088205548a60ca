// SPDX-License-Identifier: BSD-3-Clause
// How `ringside` starts the programs that have some of its commands (docs/inside/architecture.md, Processes).
#pragma once

#include <exception>
#include <string>
#include <vector>

namespace ringside {

/// By this variable `ringside` gives its version to a program that has some of its commands, which removes it.
inline constexpr const char* kStartedBy = "RINGSIDE_COMMANDS_OF";

/// Replaces this process by `program` with the same arguments; call it before anything changes a signal or a
/// descriptor. Returns only if that is impossible: an Error, exit code 3.
std::exception_ptr become_program(const std::string& program, char* const* argv) noexcept;

/// What `program` prints to standard output when it is started with these arguments, of which the first is "ringside".
/// Throws Error, exit code 3, if it cannot be started or fails.
std::string output_of_program(const std::string& program, std::vector<std::string> arguments);

}  // namespace ringside
