// SPDX-License-Identifier: BSD-3-Clause
// The most DRAM that a limit may allow: the machine's memory, or the limit of the process's memory cgroup.
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// `bound` becomes the name of the limit that applies.
uint64_t available_memory(const char** bound) noexcept;

/// The smallest limit of the process's memory cgroup and of the cgroups above it, in bytes; UINT64_MAX if none is set.
/// `groups`: a file like /proc/self/cgroup, of version 1 or 2; `root`: where the kernel shows the groups.
uint64_t cgroup_limit(const char* groups, const char* root) noexcept;

/// A soft limit of this process (such as RLIMIT_FSIZE) in bytes; UINT64_MAX if there is none.
uint64_t process_limit(int resource) noexcept;
/// The limit of the process's addresses (UINT64_MAX if there is none). `name` becomes the limit's name in a shell:
/// "ulimit -v" or "ulimit -d".
uint64_t address_limit(const char** name) noexcept;

}  // namespace ringside::memory
