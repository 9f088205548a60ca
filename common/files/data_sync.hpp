// SPDX-License-Identifier: BSD-3-Clause
// sync_data is the only function with which Ringside waits until the data of a file survive power loss. Files in memory
// have a sync that waits for nothing. lost_writes detects, without waiting, that a write to the disk has failed.
#pragma once

namespace ringside {

/// Waits until everything that was written to `file` survives power loss. Returns 0 or an errno value. An error does
/// not identify the lost pages, and a second call may return 0 although those pages are lost.
int sync_data(int file) noexcept;

/// Whether the file system keeps `file` in memory (tmpfs, ramfs), so that a sync has no disk to wait for.
bool is_in_memory(int file) noexcept;

/// Syncs a file for which is_in_memory is true. Returns 0 or an errno value. It makes one system call: such a file
/// system has no journal that it could have aborted.
int sync_in_memory(int file) noexcept;

/// Returns an errno value if a write of the file's pages to its disk has failed since the last call, or if the file
/// system no longer accepts changes; otherwise 0. Starts no write, and waits only if the first page is being written.
int lost_writes(int file) noexcept;

}  // namespace ringside
