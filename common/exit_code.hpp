// What a process, or a peer's message, says that it ended with.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "common/error.hpp"

namespace ringside {

/// A number that is none of ours comes from a program that crashed in a way of its own, or from one that means harm: it
/// counts as a lost peer and is never passed on.
constexpr ExitCode documented_exit_code(std::int64_t number) noexcept {
  for (const ExitCode code : {ExitCode::kDone, ExitCode::kUsage, ExitCode::kSystem, ExitCode::kPeerLost,
                              ExitCode::kDamaged, ExitCode::kInterrupted}) {
    if (number == static_cast<std::int64_t>(code)) return code;
  }
  return ExitCode::kPeerLost;
}

}  // namespace ringside
