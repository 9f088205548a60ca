// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/victim_choice.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ringside {
namespace {

using Age = std::pair<std::uint64_t, std::uint32_t>;  // commit_seq, slot: the order of slots, the oldest first

/// The second newest slot. Slots that come before it may go.
Age second_newest(std::span<const std::uint64_t> seqs) noexcept {
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
  return second;
}

/// The oldest slot that is newer than `after` (if there is one to compare with) and older than `before`.
std::optional<Age> oldest_between(std::span<const std::uint64_t> seqs, const std::optional<Age>& after,
                                  const Age& before) noexcept {
  std::optional<Age> oldest;
  for (std::uint32_t slot = 0; slot < seqs.size(); ++slot) {
    const Age age{seqs[slot], slot};
    if (age < before && (!after || age > *after) && (!oldest || age < *oldest)) oldest = age;
  }
  return oldest;
}

}  // namespace

std::uint32_t VictimChoice::choose(std::span<const std::uint64_t> seqs, std::uint64_t persisted) noexcept {
  if (ahead_) return *std::exchange(ahead_, std::nullopt);
  if (const auto victim = free_victim(seqs, persisted)) return *victim;
  const std::uint32_t oldest = oldest_between(seqs, std::nullopt, second_newest(seqs))->second;
  ++broken_;
  disregarded_[oldest] = 1;
  return oldest;
}

void VictimChoice::choose_ahead(std::span<const std::uint64_t> seqs, std::uint64_t persisted) noexcept {
  ahead_ = free_victim(seqs, persisted);
}

/// The oldest slot that may go and is not held, or whose lease is not respected. Its lease is taken, if possible.
std::optional<std::uint32_t> VictimChoice::free_victim(std::span<const std::uint64_t> seqs,
                                                       std::uint64_t persisted) noexcept {
  give_back();
  const Age before = second_newest(seqs);
  for (auto age = oldest_between(seqs, std::nullopt, before); age; age = oldest_between(seqs, age, before)) {
    const auto [seq, slot] = *age;
    if (seq != 0 && seq >= persisted) break;
    if (take(slot) || disregarded_[slot] != 0) return slot;
  }
  return std::nullopt;
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
