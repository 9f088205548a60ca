// SPDX-License-Identifier: BSD-3-Clause
// The storage of a pool file: persistent memory mapped directly (DAX), or the page cache. The storage determines what
// is needed for a commit to survive power loss. Only this header defines the effects of the storage; other code calls
// its predicates.
#pragma once

#include <string_view>

namespace ringside {

/// The values of `--durability`: the failures that a kept iterate survives. Both the options and the ring use these
/// values.
enum class Durability {
  kPower,   // persisted steps survive power loss
  kProcess  // commits survive the death of any process, but not power loss; no step counts as persisted
};

constexpr std::string_view to_string(Durability durability) noexcept {
  return durability == Durability::kPower ? "power" : "process";
}

enum class Storage {
  kDax,  // stores reach the medium; flush and drain make them persistent
  kFile  // stores reach the page cache; only a sync makes them persistent
};

/// Whether flush and drain make a store persist.
constexpr bool persists_in_place(Storage storage) noexcept {
  return storage == Storage::kDax;
}

/// Whether the pages of the file are copies in memory: they use memory, and the system writes them back in any order.
constexpr bool uses_page_cache(Storage storage) noexcept {
  return storage == Storage::kFile;
}

/// Whether a commit must be synced before it counts as persisted. False with `process`, because then no commit counts
/// as persisted.
constexpr bool needs_sync(Storage storage, Durability durability) noexcept {
  return durability == Durability::kPower && !persists_in_place(storage);
}

std::string_view to_string(Storage storage) noexcept;

/// The storage of a file, determined by mapping the file with MAP_SYNC. fd: an open regular file of at least one page.
/// Throws Error (exit code 2) if PMEM_IS_PMEM_FORCE=1 declares a plain file to be persistent memory, unless
/// RINGSIDE_ALLOW_FORCED_PMEM=1 (tests) makes it kDax. With PMEM_IS_PMEM_FORCE=0 every file is kFile: libpmem then
/// treats no file as persistent memory. The message begins with `name`.
Storage storage_of(int fd, std::string_view name);

/// The result of mapping with MAP_SYNC: 0, or the kernel's errno. The file may be empty.
int map_sync_error(int fd) noexcept;

/// Whether the environment makes a plain file kDax, as storage_of describes. This is for tests of the code for
/// persistent memory.
bool forced_dax_allowed() noexcept;

/// Whether PMEM_IS_PMEM_FORCE=0 disables persistent memory.
bool dax_denied() noexcept;

}  // namespace ringside
