// SPDX-License-Identifier: BSD-3-Clause
// How much DRAM a limit may name: the machine's, or what the memory cgroup of the process allows.
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// `bound` says which of the two it is.
uint64_t available_memory(const char** bound) noexcept;

}  // namespace ringside::memory
