// SPDX-License-Identifier: BSD-3-Clause
// Readers that hold slots in a scenario. These readers are not processes: this class has their leases, and the owner
// looks for them here. The seed decides which slots the readers hold. The readers end with the scenario, because no
// lock outlives a power cut.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "analyzer/ring/victim_choice.hpp"

namespace ringside::crash {

/// A fault: the owner overwrites the oldest slot, even if a reader holds that slot.
inline std::atomic<bool> leases_are_ignored{false};

/// Switches the fault on for all owners while this object exists.
class UseLeaseFault {
 public:
  explicit UseLeaseFault(bool ignores_leases) noexcept { leases_are_ignored = ignores_leases; }
  ~UseLeaseFault() { leases_are_ignored = false; }
  UseLeaseFault(const UseLeaseFault&) = delete;
  UseLeaseFault& operator=(const UseLeaseFault&) = delete;
};

class DrawnLeases final : public SlotLeases {
 public:
  explicit DrawnLeases(std::uint32_t slots) : held_(slots, 0), taken_(slots, 0) {}

  bool take(SlotRange slots) noexcept override {
    const auto held = held_.begin() + slots.first;
    const bool is_held = std::find(held, held + slots.count, 1) != held + slots.count;
    if (is_held && !leases_are_ignored.load(std::memory_order_relaxed)) return false;
    std::fill_n(taken_.begin() + slots.first, slots.count, char{1});
    return true;
  }
  void give_back(SlotRange slots) noexcept override { std::fill_n(taken_.begin() + slots.first, slots.count, char{0}); }
  bool any_held() noexcept override { return held() > 0; }

  /// Returns false if the owner has taken the slot.
  bool hold(std::uint32_t slot) {
    if (taken_[slot] == 0) held_[slot] = 1;
    return taken_[slot] == 0;
  }
  void release(std::uint32_t slot) { held_[slot] = 0; }
  /// end_owner: the owner's process ends. release_all: the processes of all readers end.
  void end_owner() { taken_.assign(taken_.size(), 0); }
  void release_all() { held_.assign(held_.size(), 0); }
  bool is_held(std::uint32_t slot) const noexcept { return held_[slot] != 0; }
  std::uint32_t held() const noexcept { return static_cast<std::uint32_t>(std::count(held_.begin(), held_.end(), 1)); }

 private:
  std::vector<char> held_;
  std::vector<char> taken_;  // slots that the owner has taken
};

}  // namespace ringside::crash
