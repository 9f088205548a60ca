// SPDX-License-Identifier: BSD-3-Clause
// The leases of a pool's slots, as its owner sees them (common/files/slot_lease.hpp).
#pragma once

#include <cstdint>

#include "analyzer/ring/victim_choice.hpp"

namespace ringside {

class PoolLeases final : public SlotLeases {
 public:
  /// fd: the pool's file, open for writing; outlives this object. If the file system lacks such locks, readers get no
  /// lease, and no slot counts as held.
  PoolLeases(int fd, std::uint32_t slots) noexcept;

  bool take(std::uint32_t slot) noexcept override;
  void give_back(std::uint32_t slot) noexcept override;

 private:
  const int fd_;
  const bool available_;
};

}  // namespace ringside
