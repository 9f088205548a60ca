// SPDX-License-Identifier: BSD-3-Clause
#include "common/pool_reader/reader_leases.hpp"

#include <numeric>

namespace ringside {

LeaseStatus ReaderLeases::take(std::uint32_t slot) noexcept {
  if (!mark_.is_owner()) return LeaseStatus::kUnavailable;
  const std::lock_guard lock(mutex_);
  if (counts_[slot] == 0) {
    const LeaseStatus status = take_lease(file_.get(), slot, Lease::kShared);
    if (status != LeaseStatus::kTaken) {
      // On NFS, what conflicts may be the lock of the pool's owner, which covers all bytes.
      const auto slots = static_cast<std::uint32_t>(counts_.size());
      return has_leases(file_.get(), slots, Lease::kShared) ? status : LeaseStatus::kUnavailable;
    }
  }
  ++counts_[slot];
  return LeaseStatus::kTaken;
}

void ReaderLeases::end(std::uint32_t slot) noexcept {
  if (!mark_.is_owner()) return;
  const std::lock_guard lock(mutex_);
  if (--counts_[slot] == 0) end_lease(file_.get(), slot);
}

std::uint32_t ReaderLeases::held() const noexcept {
  const std::lock_guard lock(mutex_);
  return std::accumulate(counts_.begin(), counts_.end(), std::uint32_t{0});
}

}  // namespace ringside
