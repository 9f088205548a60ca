// SPDX-License-Identifier: BSD-3-Clause
// Calls whose pointers lie in structures.
#pragma once

#include <stdint.h>

#include "memory/calls/records.hpp"

namespace ringside::memory {

/// Pins what the structures of a call mean. 0 or -errno.
long pin_nested(Record& record, const uint64_t* arguments) noexcept;

/// After a sigaltstack that succeeded: the new stack's pins stay, the old one's go.
void end_signal_stack(Record& record) noexcept;

/// mmap, munmap and their like for addresses in the arena: what the program gets.
long answer_mapping(long number, const uint64_t* arguments) noexcept;

}  // namespace ringside::memory
