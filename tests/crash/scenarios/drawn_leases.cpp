// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/scenarios/drawn_leases.hpp"

#include <algorithm>
#include <atomic>

namespace ringside::crash {
namespace {

std::atomic<LeaseFault> current{LeaseFault::kNone};

}  // namespace

UseLeaseFault::UseLeaseFault(LeaseFault fault) noexcept {
  current = fault;
}
UseLeaseFault::~UseLeaseFault() {
  current = LeaseFault::kNone;
}

bool DrawnLeases::take(std::uint32_t slot) noexcept {
  const bool free = held_[slot] == 0 || current.load(std::memory_order_relaxed) == LeaseFault::kIgnored;
  if (free) taken_[slot] = 1;
  return free;
}

bool DrawnLeases::hold(std::uint32_t slot) {
  if (taken_[slot] != 0) return false;
  held_[slot] = 1;
  return true;
}

std::uint32_t DrawnLeases::held() const noexcept {
  return static_cast<std::uint32_t>(std::count(held_.begin(), held_.end(), 1));
}

}  // namespace ringside::crash
