// SPDX-License-Identifier: BSD-3-Clause
// What lies under a pool file: persistent memory mapped directly (DAX), or a page cache. It decides what a commit needs
// to survive power loss. What a storage means is defined here alone; other code asks these predicates.
#pragma once

#include <string_view>

#include "common/ring/durability.hpp"

namespace ringside {

enum class Storage {
  kDax,  // stores reach the medium: flush and drain persist
  kFile  // stores reach the page cache: only a sync persists
};

/// True if a store persists where it is made, once it is flushed and drained.
constexpr bool persists_in_place(Storage storage) noexcept {
  return storage == Storage::kDax;
}

/// True if the pages of the file are copies in memory: they take memory, and the system writes them back in any order.
constexpr bool uses_page_cache(Storage storage) noexcept {
  return storage == Storage::kFile;
}

/// True if a commit must be synced before it counts as persisted. Never under `process`, where nothing counts as such.
constexpr bool needs_sync(Storage storage, Durability durability) noexcept {
  return durability == Durability::kPower && !persists_in_place(storage);
}

std::string_view to_string(Storage storage) noexcept;

/// Asks the kernel, by mapping the file with MAP_SYNC. fd: an open regular file of at least one page. Throws Error
/// (exit code 2) if PMEM_IS_PMEM_FORCE=1 claims that a plain file is persistent memory, unless
/// RINGSIDE_ALLOW_FORCED_PMEM=1 (tests) lets it pass as DAX. With PMEM_IS_PMEM_FORCE=0 every file is kFile: libpmem
/// then takes nothing for persistent memory. The message begins with `name`.
Storage storage_of(int fd, std::string_view name);

/// The kernel's answer to a mapping with MAP_SYNC: 0, or the errno of its refusal. An empty file is enough.
int map_sync_error(int fd) noexcept;

/// True if the environment lets a plain file pass as DAX, as above: for tests of the path over persistent memory.
bool forced_dax_allowed() noexcept;

/// True if PMEM_IS_PMEM_FORCE=0 denies persistent memory that is there.
bool dax_denied() noexcept;

}  // namespace ringside
