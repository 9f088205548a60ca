// SPDX-License-Identifier: BSD-3-Clause
// The one way in which Ringside waits until the data of a file survive power loss; and how it detects, without waiting,
// that a write to the disk has failed.
#pragma once

namespace ringside {

/// Waits until everything that was written to `file` survives power loss. Returns 0 or an errno value; after a failure
/// the lost pages are not known, and a second call may return 0 although they are lost.
int sync_data(int file) noexcept;

/// Returns the errno value of a write of the file's pages to its disk that has failed since the last call, or of a file system
/// that takes no changes any more; or 0. Starts no write, and waits for none but that of the first page.
int lost_writes(int file) noexcept;

}  // namespace ringside
