// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/victim_choice.hpp"

#include <utility>

namespace ringside {
namespace {

/// Only slots that are older than the returned slot may be overwritten. It is the second newest slot or, in a ring of
/// three with a guarded slot, the newest. Two slots must remain writable, and a run resumes from the newest.
std::uint32_t first_to_stay(const SlotOrder& order, const std::optional<std::uint32_t>& guarded) noexcept {
  return guarded && order.slots() == 3 ? order.newest() : order.older(order.newest());
}

/// The oldest slot that may be overwritten: at least one slot besides `guarded` is older than first_to_stay.
std::uint32_t oldest_slot(const SlotOrder& order, const std::optional<std::uint32_t>& guarded) noexcept {
  const std::uint32_t oldest = order.oldest();
  return oldest == guarded ? order.newer(oldest) : oldest;
}

}  // namespace

std::uint32_t VictimChoice::choose(const SlotOrder& order, std::uint64_t persisted) noexcept {
  if (ahead_) return *std::exchange(ahead_, std::nullopt);
  if (const auto victim = free_victim(order, persisted)) return *victim;
  const std::uint32_t oldest = oldest_slot(order, guarded_);
  if (copied_[oldest].load(std::memory_order_relaxed) != 0 && take(oldest)) return oldest;  // no reader holds it
  ++broken_;
  disregarded_[oldest] = 1;
  return oldest;
}

std::optional<std::uint32_t> VictimChoice::choose_ahead(const SlotOrder& order, std::uint64_t persisted) noexcept {
  ahead_ = free_victim(order, persisted);
  return ahead_;
}

/// The oldest slot that may be overwritten, and that is not held or whose lease is ignored. Takes the slot's lease, if
/// possible.
std::optional<std::uint32_t> VictimChoice::free_victim(const SlotOrder& order, std::uint64_t persisted) noexcept {
  give_back();
  const std::uint32_t end = first_to_stay(order, guarded_);
  for (std::uint32_t slot = order.oldest(); slot != end; slot = order.newer(slot)) {
    if (slot == guarded_) continue;
    if (order.seq(slot) != 0 && order.seq(slot) >= persisted) break;
    if (copied_[slot].load(std::memory_order_relaxed) != 0) continue;
    if (take(slot) || disregarded_[slot] != 0) return slot;
  }
  return std::nullopt;
}

void VictimChoice::guard(std::optional<std::uint32_t> slot) noexcept {
  guarded_ = slot;
  if (slot && ahead_ == slot) give_back();
}

std::uint64_t VictimChoice::oldest_that_may_go(const SlotOrder& order) const noexcept {
  return order.seq(oldest_slot(order, guarded_));
}

bool VictimChoice::take(std::uint32_t slot) noexcept {
  if (leases_ == nullptr) return true;
  if (!leases_->take(slot)) return false;
  taken_ = slot;
  disregarded_[slot] = 0;
  return true;
}

void VictimChoice::give_back() noexcept {
  if (taken_) leases_->give_back(*taken_);
  taken_.reset();
  ahead_.reset();
}

}  // namespace ringside
