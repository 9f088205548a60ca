// SPDX-License-Identifier: BSD-3-Clause
// How much DRAM a limit may name: the machine's, or what the memory cgroup of the process allows.
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// `bound` says which of the two it is.
uint64_t available_memory(const char** bound) noexcept;

/// The smallest limit of the process's memory cgroup and of those above it, in bytes; UINT64_MAX if none is set.
/// `groups`: a file like /proc/self/cgroup, of version 1 or 2; `root`: where the kernel shows the groups.
uint64_t cgroup_limit(const char* groups, const char* root) noexcept;

}  // namespace ringside::memory
