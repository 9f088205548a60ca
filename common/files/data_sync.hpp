// SPDX-License-Identifier: BSD-3-Clause
// The one way in which Ringside waits until the data of a file survive power loss.
#pragma once

namespace ringside {

/// Waits until everything that was written to `file` survives power loss. Returns 0 or an errno value; after a failure
/// the lost pages are not known, and a second call may return 0 although they are lost.
int sync_data(int file) noexcept;

}  // namespace ringside
