// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/victim_choice.hpp"

#include <algorithm>
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
  if (!ahead_) ahead_ = free_victim(order, persisted, 1);
  const std::uint32_t victim = ahead_ ? *ahead_ : held_victim(order);
  ahead_.reset();
  if (unused_ > 0) --unused_;
  return victim;
}

/// The oldest slot, although it is held.
std::uint32_t VictimChoice::held_victim(const SlotOrder& order) noexcept {
  const std::uint32_t oldest = oldest_slot(order, guarded_);
  if (copied_[oldest].load(std::memory_order_relaxed) != 0 && take(oldest)) return oldest;  // no reader holds it
  ++broken_;
  disregarded_[oldest] = 1;
  return oldest;
}

std::optional<std::uint32_t> VictimChoice::choose_ahead(const SlotOrder& order, std::uint64_t persisted,
                                                        std::uint32_t most) noexcept {
  // The commits of the window's earlier slots moved these slots to the end of the list, so the next slot of the window
  // is now the oldest one that may be overwritten.
  const bool goes_on = most > 1 && unused_ > 0 && !ahead_;
  ahead_ = goes_on ? taken_->end() - unused_ : free_victim(order, persisted, most);
  return ahead_;
}

/// The oldest slot that may be overwritten, and that is not held or whose lease is ignored. Takes the slot's lease, if
/// possible. If no older slot was held, also takes the leases of the following slots, up to `most` in all.
std::optional<std::uint32_t> VictimChoice::free_victim(const SlotOrder& order, std::uint64_t persisted,
                                                       std::uint32_t most) noexcept {
  give_back();
  const std::uint32_t end = first_to_stay(order, guarded_);
  for (std::uint32_t slot = order.oldest(); slot != end; slot = order.newer(slot)) {
    if (slot == guarded_) continue;
    if (order.seq(slot) != 0 && order.seq(slot) >= persisted) break;
    if (copied_[slot].load(std::memory_order_relaxed) == 0) {
      const std::uint32_t count = free_from(slot, order, persisted, most);
      if (count > 1 && take({slot, count})) return slot;
      if (take(slot) || disregarded_[slot] != 0) return slot;
    }
    most = 1;  // an older slot is held: once it is free, it must be the next one to be overwritten
  }
  return std::nullopt;
}

/// The number of slots from `slot` on, up to `most`, that the next steps may overwrite, and whose bytes one lock can
/// cover. Does not look for leases.
std::uint32_t VictimChoice::free_from(std::uint32_t slot, const SlotOrder& order, std::uint64_t persisted,
                                      std::uint32_t most) const noexcept {
  const std::uint32_t end = first_to_stay(order, guarded_);
  std::uint32_t count = 1;
  for (std::uint32_t next = order.newer(slot); count < most && next == slot + count; next = order.newer(next)) {
    if (next == end || next == guarded_ || copied_[next].load(std::memory_order_relaxed) != 0) break;
    if (order.seq(next) != 0 && order.seq(next) >= persisted) break;
    ++count;
  }
  return count;
}

void VictimChoice::guard(std::optional<std::uint32_t> slot) noexcept {
  // The slot that was guarded may be older than those of the window, and is then overwritten before them.
  if (guarded_ && guarded_ != slot && !ahead_) unused_ = 0;
  guarded_ = slot;
  if (slot) keep_out(*slot);
}

void VictimChoice::hold(std::uint32_t slot) noexcept {
  copied_[slot].fetch_add(1, std::memory_order_relaxed);
  keep_out(slot);
}

/// Ends the window if it has this slot for a next step.
void VictimChoice::keep_out(std::uint32_t slot) noexcept {
  const bool is_unused = unused_ > 0 && slot >= taken_->end() - unused_ && slot < taken_->end();
  if (ahead_ == slot || (ahead_ && is_unused)) give_back();
  if (is_unused) unused_ = 0;  // nothing is decided: the lease of a step's slot may be needed until its commit
}

std::uint64_t VictimChoice::oldest_that_may_go(const SlotOrder& order) const noexcept {
  return order.seq(oldest_slot(order, guarded_));
}

bool VictimChoice::take(SlotRange slots) noexcept {
  if (leases_ == nullptr) return true;
  if (!leases_->take(slots)) {
    lease_seen_ = true;
    return false;
  }
  taken_ = slots;
  unused_ = slots.count;
  std::fill_n(disregarded_.begin() + slots.first, slots.count, char{0});
  return true;
}

void VictimChoice::give_back() noexcept {
  if (taken_) leases_->give_back(*taken_);
  taken_.reset();
  unused_ = 0;
  ahead_.reset();
}

}  // namespace ringside
