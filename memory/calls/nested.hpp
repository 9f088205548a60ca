// SPDX-License-Identifier: BSD-3-Clause
// Calls whose pointers lie in structures.
#pragma once

#include <stdint.h>

#include "memory/calls/records.hpp"

namespace ringside::memory {

/// Pins the memory that the call's structures point to. 0 or -errno.
long pin_nested(Record& record, const uint64_t* arguments) noexcept;

/// After a successful sigaltstack: keeps the new stack's pins, drops the old one's.
void end_signal_stack(Record& record) noexcept;

/// The result of mmap, munmap and similar calls for addresses in the arena.
long answer_mapping(long number, const uint64_t* arguments) noexcept;

}  // namespace ringside::memory
