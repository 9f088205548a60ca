// SPDX-License-Identifier: BSD-3-Clause
// Waits until the data of a file survive power loss: all of Ringside uses this function. Also detects, without waiting,
// that a write to the disk has failed.
#pragma once

namespace ringside {

/// Waits until everything that was written to `file` survives power loss. Returns 0 or an errno value. A failure does
/// not identify the lost pages, and a second call may return 0 although they are lost.
int sync_data(int file) noexcept;

/// Returns an errno value if a write of the file's pages to its disk has failed since the last call, or if the file
/// system no longer accepts changes; else 0. Starts no write, and waits only for that of the first page.
int lost_writes(int file) noexcept;

}  // namespace ringside
