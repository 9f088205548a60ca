// SPDX-License-Identifier: BSD-3-Clause
// The order in which slots may be overwritten: the empty slots by number, then the others by commit_seq. A doubly
// linked list keeps this order, so the oldest slot and the two newest slots are found without a pass over all slots. A
// ring may have 1,024 slots, and each step needs these slots several times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringside {

/// Only the constructors and `assign` allocate memory. One thread uses an object.
class SlotOrder {
 public:
  /// All slots are empty.
  explicit SlotOrder(std::uint32_t slots) : SlotOrder(std::vector<std::uint64_t>(slots, 0)) {}
  /// seqs: as for `assign`.
  explicit SlotOrder(std::span<const std::uint64_t> seqs) { assign(seqs); }

  /// seqs: by slot, the commit_seq of its step; 0: the slot is empty, because it has nothing worth keeping.
  void assign(std::span<const std::uint64_t> seqs);

  /// The slot now holds this commit. seq: greater than the commit_seq of every slot.
  void commit(std::uint32_t slot, std::uint64_t seq) noexcept;

  /// The slot is now empty. Passes over the empty slots with smaller numbers.
  void make_empty(std::uint32_t slot) noexcept;

  /// All slots are now empty.
  void make_all_empty() noexcept;

  /// commit_seq by slot; 0: empty.
  std::span<const std::uint64_t> seqs() const noexcept { return seqs_; }
  std::uint64_t seq(std::uint32_t slot) const noexcept { return seqs_[slot]; }
  std::uint32_t slots() const noexcept { return static_cast<std::uint32_t>(seqs_.size()); }

  /// A pass from the oldest slot: for (slot = oldest(); slot != end(); slot = newer(slot)). The opposite pass uses
  /// newest and older, and ends at end(), too.
  std::uint32_t oldest() const noexcept { return links_[end()].newer; }
  std::uint32_t newest() const noexcept { return links_[end()].older; }
  std::uint32_t newer(std::uint32_t slot) const noexcept { return links_[slot].newer; }
  std::uint32_t older(std::uint32_t slot) const noexcept { return links_[slot].older; }
  std::uint32_t end() const noexcept { return slots(); }

 private:
  struct Link {
    std::uint32_t older;
    std::uint32_t newer;
  };

  void unlink(std::uint32_t slot) noexcept;
  void link_before(std::uint32_t slot, std::uint32_t next) noexcept;

  std::vector<std::uint64_t> seqs_;
  std::vector<Link> links_;  // by slot, and one more for end(), which closes the list to a circle
};

}  // namespace ringside
