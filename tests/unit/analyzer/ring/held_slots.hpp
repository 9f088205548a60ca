// SPDX-License-Identifier: BSD-3-Clause
// Leases without readers: a test sets which slots are held, and reads which calls were made.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/ring/victim_choice.hpp"

namespace ringside {

class HeldSlots final : public SlotLeases {
 public:
  void hold(std::set<std::uint32_t> slots) { held_ = std::move(slots); }

  bool take(SlotRange slots) noexcept override {
    ++calls_;
    for (std::uint32_t slot = slots.first; slot < slots.end(); ++slot) tried_.push_back(slot);
    for (std::uint32_t slot = slots.first; slot < slots.end(); ++slot) {
      if (held_.contains(slot)) return false;
    }
    for (std::uint32_t slot = slots.first; slot < slots.end(); ++slot) taken_.insert(slot);
    return true;
  }
  void give_back(SlotRange slots) noexcept override {
    ++calls_;
    ++given_back_;
    for (std::uint32_t slot = slots.first; slot < slots.end(); ++slot) taken_.erase(slot);
  }
  bool any_held() noexcept override {
    ++calls_;
    return !held_.empty();
  }

  /// The slots that were tried since the last call, in order.
  std::vector<std::uint32_t> tried() { return std::exchange(tried_, {}); }
  std::size_t given_back() { return std::exchange(given_back_, 0); }
  /// The number of all system calls that the writer would have made since the last call.
  std::size_t calls() { return std::exchange(calls_, 0); }
  const std::set<std::uint32_t>& taken() const { return taken_; }

 private:
  std::set<std::uint32_t> held_;
  std::set<std::uint32_t> taken_;
  std::vector<std::uint32_t> tried_;
  std::size_t given_back_ = 0;
  std::size_t calls_ = 0;
};

}  // namespace ringside
