// SPDX-License-Identifier: BSD-3-Clause
// The seccomp filter: a system call with an argument in the arena raises SIGSYS in its thread; every other call runs.
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// The value that the kernel delivers with SIGSYS (si_errno) for a trap of this filter; other filters have others.
inline constexpr uint32_t kTrapMark = 0x5253;

/// Whether the process already has a filter, which can be its own or an inherited one.
bool has_filter() noexcept;

/// install_filter returns this if only the ancestors' filters are in use, because there is no room for another filter.
inline constexpr long kOnlyOfAncestors = 1;

/// Installs the filter for all threads; it traps [first, end). Returns 0, kOnlyOfAncestors, or -errno; `why` then says
/// what failed. `covered`: whether an ancestor's filter already traps the range, so that this filter adds only the
/// calls with structures.
long install_filter(uint64_t first, uint64_t end, bool covered, const char** why) noexcept;

}  // namespace ringside::memory
