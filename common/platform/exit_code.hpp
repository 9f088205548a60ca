// SPDX-License-Identifier: BSD-3-Clause
// The exit code that a process, or a peer's message, reports.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "common/platform/error.hpp"

namespace ringside {

/// An undocumented number comes from a program that crashed in its own way, or from a hostile one: it counts as a lost
/// peer and is never passed on.
constexpr ExitCode documented_exit_code(std::int64_t number) noexcept {
  for (const ExitCode code : {ExitCode::kDone, ExitCode::kUsage, ExitCode::kSystem, ExitCode::kPeerLost,
                              ExitCode::kDamaged, ExitCode::kInterrupted}) {
    if (number == static_cast<std::int64_t>(code)) return code;
  }
  return ExitCode::kPeerLost;
}

}  // namespace ringside
