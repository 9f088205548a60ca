// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/victim_choice.hpp"

#include <utility>

namespace ringside {
namespace {

using Age = std::pair<std::uint64_t, std::uint32_t>;  // commit_seq, slot: the order of slots, the oldest first

/// Only slots that are older than the returned slot may be overwritten. It is the second newest slot or, in a ring of
/// three with a guarded slot, the newest. Two slots must remain writable, and a run resumes from the newest.
Age first_to_stay(std::span<const std::uint64_t> seqs, const std::optional<std::uint32_t>& guarded) noexcept {
  Age newest{};
  Age second{};
  for (std::uint32_t slot = 0; slot < seqs.size(); ++slot) {
    const Age age{seqs[slot], slot};
    if (age >= newest) {
      second = std::exchange(newest, age);
    } else if (age > second) {
      second = age;
    }
  }
  return guarded && seqs.size() == 3 ? newest : second;
}

/// The oldest slot newer than `after` (if given) and older than `before`; not `guarded`.
std::optional<Age> oldest_between(std::span<const std::uint64_t> seqs, const std::optional<Age>& after,
                                  const Age& before, const std::optional<std::uint32_t>& guarded) noexcept {
  std::optional<Age> oldest;
  for (std::uint32_t slot = 0; slot < seqs.size(); ++slot) {
    const Age age{seqs[slot], slot};
    if (slot != guarded && age < before && (!after || age > *after) && (!oldest || age < *oldest)) oldest = age;
  }
  return oldest;
}

}  // namespace

std::uint32_t VictimChoice::choose(std::span<const std::uint64_t> seqs, std::uint64_t persisted) noexcept {
  if (ahead_) return *std::exchange(ahead_, std::nullopt);
  if (const auto victim = free_victim(seqs, persisted)) return *victim;
  const std::uint32_t oldest = oldest_between(seqs, std::nullopt, first_to_stay(seqs, guarded_), guarded_)->second;
  if (copied_[oldest].load(std::memory_order_relaxed) != 0 && take(oldest)) return oldest;  // no reader holds it
  ++broken_;
  disregarded_[oldest] = 1;
  return oldest;
}

bool VictimChoice::choose_ahead(std::span<const std::uint64_t> seqs, std::uint64_t persisted) noexcept {
  ahead_ = free_victim(seqs, persisted);
  return ahead_.has_value();
}

/// The oldest slot that may be overwritten, and that is not held or whose lease is ignored. Takes the slot's lease, if
/// possible.
std::optional<std::uint32_t> VictimChoice::free_victim(std::span<const std::uint64_t> seqs,
                                                       std::uint64_t persisted) noexcept {
  give_back();
  const Age before = first_to_stay(seqs, guarded_);
  for (auto age = oldest_between(seqs, std::nullopt, before, guarded_); age;
       age = oldest_between(seqs, age, before, guarded_)) {
    const auto [seq, slot] = *age;
    if (seq != 0 && seq >= persisted) break;
    if (copied_[slot].load(std::memory_order_relaxed) != 0) continue;
    if (take(slot) || disregarded_[slot] != 0) return slot;
  }
  return std::nullopt;
}

void VictimChoice::guard(std::optional<std::uint32_t> slot) noexcept {
  guarded_ = slot;
  if (slot && ahead_ == slot) give_back();
}

std::uint64_t VictimChoice::oldest_that_may_go(std::span<const std::uint64_t> seqs) const noexcept {
  return oldest_between(seqs, std::nullopt, first_to_stay(seqs, guarded_), guarded_)->first;
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
