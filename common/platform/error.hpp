// SPDX-License-Identifier: BSD-3-Clause
// How errors during set-up are reported: one exception type, one line of text, one exit code. The per-step path returns
// enums and never throws.
#pragma once

#include <stdexcept>
#include <string>

#include "common/text/formatted.hpp"

namespace ringside {

/// The exit codes of the programs (docs/inside/architecture.md; the numbers are a stable interface).
enum class ExitCode : int {
  kDone = 0,
  kUsage = 2,         // usage or bad input
  kSystem = 3,        // the system lacks something: space, permission, cores
  kPeerLost = 4,      // the other process ended or no longer responds
  kDamaged = 5,       // data failed verification
  kInterrupted = 130  // a signal stopped the program, which ended cleanly
};

/// `what()` is one line with the file, line or option, the value that was found and the values that would be accepted.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// `throw usage_error("{}: line {}: ...", file, line)`: bad input or a bad option, exit code 2.
template <class... Args>
Error usage_error(FormatText<std::type_identity_t<Args>...> format, const Args&... args) {
  return Error(ExitCode::kUsage, formatted(format, args...));
}

/// An Error for something that the system lacks, exit code 3. The caller adds the text of `errno` (`errno_text`).
template <class... Args>
Error system_error(FormatText<std::type_identity_t<Args>...> format, const Args&... args) {
  return Error(ExitCode::kSystem, formatted(format, args...));
}

/// An Error for data that failed verification, exit code 5.
template <class... Args>
Error damage_error(FormatText<std::type_identity_t<Args>...> format, const Args&... args) {
  return Error(ExitCode::kDamaged, formatted(format, args...));
}

/// An Error for another process that ended or no longer responds, exit code 4.
template <class... Args>
Error peer_error(FormatText<std::type_identity_t<Args>...> format, const Args&... args) {
  return Error(ExitCode::kPeerLost, formatted(format, args...));
}

/// The text of an errno value: "No space left on device".
std::string errno_text(int error);

}  // namespace ringside
