// SPDX-License-Identifier: BSD-3-Clause
// The file with one entry for each process, which the preload library of the process writes and `ringside-memory run`
// reads. The file outlives the processes, so that the account exists even if a process was killed. Only a process
// itself writes its entry.
#pragma once

#include <stdint.h>

#include <atomic>

#include "memory/ringside_memory.h"

namespace ringside::memory {

inline constexpr uint64_t kAccountMark = 0x31'65'67'61'70'6d'52;  // "Rmpage1"
inline constexpr uint32_t kAccountEntries = 4096;

struct AccountCounters {
  struct ringside_memory_stats stats {};
  uint64_t small_allocations = 0, small_bytes = 0, small_peak_bytes = 0;  // in the program's own malloc
  uint64_t large_allocations = 0;                                         // in the arena, including mappings
  uint64_t refused = 0;                                                   // requests that failed with ENOMEM
  uint64_t forks_copied = 0, forks_copied_bytes = 0, forks_without_copy = 0;
};

struct AccountEntry {
  std::atomic<uint32_t> version;  // odd while the entry is written; 0: never written
  int32_t pid;
  uint32_t forked;  // 1: the process began as a copy of its parent, 0: by exec
  uint32_t serves_system_calls;
  char name[16];
  AccountCounters counters;
};

struct AccountPage {
  uint64_t mark;
  std::atomic<uint32_t> taken;  // the entries taken; processes beyond kAccountEntries are not listed
  uint32_t unused;
  AccountEntry entries[kAccountEntries];
};

static_assert(std::atomic<uint32_t>::is_always_lock_free);

}  // namespace ringside::memory
