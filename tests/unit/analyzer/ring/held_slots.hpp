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

  bool take(std::uint32_t slot) noexcept override {
    tried_.push_back(slot);
    if (held_.contains(slot)) return false;
    taken_.insert(slot);
    return true;
  }
  void give_back(std::uint32_t slot) noexcept override {
    ++given_back_;
    taken_.erase(slot);
  }

  /// The slots that were tried since the last call, in order.
  std::vector<std::uint32_t> tried() { return std::exchange(tried_, {}); }
  std::size_t given_back() { return std::exchange(given_back_, 0); }
  const std::set<std::uint32_t>& taken() const { return taken_; }

 private:
  std::set<std::uint32_t> held_;
  std::set<std::uint32_t> taken_;
  std::vector<std::uint32_t> tried_;
  std::size_t given_back_ = 0;
};

}  // namespace ringside
