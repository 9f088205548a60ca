// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/pool_leases.hpp"

#include "common/files/slot_lease.hpp"

namespace ringside {

PoolLeases::PoolLeases(int fd, std::uint32_t slots) noexcept
    : fd_(fd), available_(has_leases(fd, slots, Lease::kExclusive)) {}

bool PoolLeases::take(std::uint32_t slot) noexcept {
  return !available_ || take_lease(fd_, slot, Lease::kExclusive) != LeaseStatus::kHeld;
}

void PoolLeases::give_back(std::uint32_t slot) noexcept {
  if (available_) end_lease(fd_, slot);
}

}  // namespace ringside
