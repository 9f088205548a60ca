// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/slot_order.hpp"

#include <algorithm>
#include <numeric>

namespace ringside {

void SlotOrder::assign(std::span<const std::uint64_t> seqs) {
  seqs_.assign(seqs.begin(), seqs.end());
  std::vector<std::uint32_t> by_age(seqs.size());
  std::iota(by_age.begin(), by_age.end(), 0);
  std::stable_sort(by_age.begin(), by_age.end(), [&](auto a, auto b) { return seqs_[a] < seqs_[b]; });
  links_.assign(seqs.size() + 1, {end(), end()});
  for (const std::uint32_t slot : by_age) link_before(slot, end());
}

void SlotOrder::commit(std::uint32_t slot, std::uint64_t seq) noexcept {
  seqs_[slot] = seq;
  unlink(slot);
  link_before(slot, end());
}

void SlotOrder::make_empty(std::uint32_t slot) noexcept {
  if (seqs_[slot] == 0) return;
  seqs_[slot] = 0;
  unlink(slot);
  std::uint32_t next = oldest();
  while (next != end() && seqs_[next] == 0 && next < slot) next = newer(next);
  link_before(slot, next);
}

void SlotOrder::make_all_empty() noexcept {
  std::fill(seqs_.begin(), seqs_.end(), 0);
  links_[end()] = {end(), end()};
  for (std::uint32_t slot = 0; slot < slots(); ++slot) link_before(slot, end());
}

void SlotOrder::unlink(std::uint32_t slot) noexcept {
  const auto [older, newer] = links_[slot];
  links_[older].newer = newer;
  links_[newer].older = older;
}

/// `slot` is not in the list.
void SlotOrder::link_before(std::uint32_t slot, std::uint32_t next) noexcept {
  const std::uint32_t before = links_[next].older;
  links_[slot] = {before, next};
  links_[before].newer = slot;
  links_[next].older = slot;
}

}  // namespace ringside
