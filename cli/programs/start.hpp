// SPDX-License-Identifier: BSD-3-Clause
// Starts the programs that contain some of ringside's commands (docs/inside/architecture.md, Processes).
#pragma once

#include <exception>
#include <string>
#include <vector>

namespace ringside {

/// The environment variable in which `ringside` passes its version to such a program. The program removes the variable.
inline constexpr const char* kStartedBy = "RINGSIDE_COMMANDS_OF";

/// Replaces this process by `program` with the same arguments; call this function before any signal or descriptor is
/// changed. Returns only if `program` cannot be started: then returns an Error with exit code 3.
std::exception_ptr become_program(const std::string& program, char* const* argv) noexcept;

/// The standard output of `program` when it runs with these arguments, of which the first is "ringside". Throws Error,
/// exit code 3, if the program cannot be started or fails.
std::string output_of_program(const std::string& program, std::vector<std::string> arguments);

}  // namespace ringside
