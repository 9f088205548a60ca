// SPDX-License-Identifier: BSD-3-Clause
// The seccomp filter: a system call with an argument in the arena raises SIGSYS in its thread, every other call runs.
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// What the kernel hands over with SIGSYS (si_errno): traps of other filters differ.
inline constexpr uint32_t kTrapMark = 0x5253;

/// Whether the process has a filter already, its own or its ancestors'.
bool has_filter() noexcept;

/// The filters of the ancestors must do: there is no room for one more.
inline constexpr long kOnlyOfAncestors = 1;

/// Installs it for all threads: 0, kOnlyOfAncestors or -errno, `why` then says what failed. The range is what traps, [first, end).
/// `covered`: an ancestor's filter traps it already, and only the calls with structures are this process's own.
long install_filter(uint64_t first, uint64_t end, bool covered, const char** why) noexcept;

}  // namespace ringside::memory
