// SPDX-License-Identifier: BSD-3-Clause
// The largest entries of an iterate, with their rows.
#pragma once

#include "common/reductions/kernels/field_results.hpp"
#include "common/reductions/kernels/reduction_block.hpp"
#include "common/reductions/kernels/reduction_record.hpp"

namespace ringside::RINGSIDE_ISA {

/// Orders by descending value, equal values by ascending row. This is a total order, so that the result does not depend
/// on which thread comes first. NaN is never among the entries.
inline bool before(const TopEntry& a, const TopEntry& b) noexcept {
  return a.value > b.value || (a.value == b.value && a.row < b.row);
}

class Top {
 public:
  void add_block(const Block& block) noexcept {
    if (count_ == kTopEntries && !before({block.first_row, block.max}, entries_[kTopEntries - 1])) return;
    // Rows are offered in ascending order. So once the list is full and its last entry is from an earlier row, a value
    // must be greater than that entry's, and most groups of rows are skipped by a few comparisons.
    const double limit = least_of_largest(block);
    bool may_equal = true;
    for (std::size_t first = 0; first < block.rows; first += kGroup) {
      const std::size_t end = first + kGroup < block.rows ? first + kGroup : block.rows;
      if (end - first == kGroup &&
          !(may_equal ? any<true>(block.x + first, limit) : any<false>(block.x + first, limit))) {
        continue;
      }
      for (std::size_t i = first; i < end; ++i) {
        if (may_equal ? !(block.x[i] >= limit) : !(block.x[i] > limit)) continue;
        offer({block.first_row + i, block.x[i]});
        const TopEntry& last = entries_[kTopEntries - 1];
        if (count_ == kTopEntries && last.row <= block.first_row + i) may_equal = last.value < limit;
      }
    }
  }

  void merge(const Top& other) noexcept {
    for (std::size_t i = 0; i < other.count_; ++i) offer(other.entries_[i]);
  }

  /// A place without an entry has the row -1 and the value 0.
  void finish(FieldResults& results) const noexcept {
    std::uint64_t* const rows = results.words<"top_row", RINGSIDE_VALUE_I64>();
    std::uint64_t* const values = results.words<"top_value", RINGSIDE_VALUE_F64>();
    for (std::size_t i = 0; i < kTopEntries; ++i) rows[i] = i < count_ ? entries_[i].row : ~std::uint64_t{0};
    for (std::size_t i = 0; i < count_; ++i) values[i] = __builtin_bit_cast(std::uint64_t, entries_[i].value);
  }

 private:
  static constexpr std::size_t kGroup = 32;

  /// Whether one of kGroup values is above the limit, or kMayEqual: equal to it.
  template <bool kMayEqual>
  static bool any(const double* x, double limit) noexcept {
    LaneBits found{};
    for (std::size_t row = 0; row < kGroup; row += kRegisterDoubles) {
      const Lanes values = load(x + row);
      found |= reinterpret_cast<LaneBits>(kMayEqual ? values >= limit : values > limit);
    }
    std::uint64_t all = 0;
    for (std::size_t lane = 0; lane < kRegisterDoubles; ++lane) all |= found[lane];
    return all != 0;
  }

  /// The smallest value among the entries after the block has been added; -infinity if there are fewer than
  /// kTopEntries. With this limit, rows can be offered in ascending order. Of equal values, only the first few rows are
  /// accepted. Of ascending values, only those above the limit are inserted, and not each in turn.
  double least_of_largest(const Block& block) const noexcept {
    double largest[kTopEntries];
    for (std::size_t i = 0; i < kTopEntries; ++i) largest[i] = i < count_ ? entries_[i].value : -__builtin_inf();
    // The loop runs backwards: if values ascend, the largest then come first, and the rest of the block is rejected.
    for (std::size_t end = block.rows; end > 0;) {
      const std::size_t first = (end - 1) / kGroup * kGroup;
      if (end - first == kGroup && !any<false>(block.x + first, largest[kTopEntries - 1])) {
        end = first;
        continue;
      }
      while (end > first) {
        const double x = block.x[--end];
        if (!(x > largest[kTopEntries - 1])) continue;
        std::size_t place = kTopEntries - 1;
        for (; place > 0 && x > largest[place - 1]; --place) largest[place] = largest[place - 1];
        largest[place] = x;
      }
    }
    return largest[kTopEntries - 1];
  }

  void offer(const TopEntry& entry) noexcept {
    if (entry.value != entry.value) return;
    if (count_ == kTopEntries && !before(entry, entries_[kTopEntries - 1])) return;
    std::size_t place = count_ < kTopEntries ? count_++ : kTopEntries - 1;
    for (; place > 0 && before(entry, entries_[place - 1]); --place) entries_[place] = entries_[place - 1];
    entries_[place] = entry;
  }

  std::size_t count_ = 0;
  TopEntry entries_[kTopEntries] = {};  // the first count_ are valid, in order
};

}  // namespace ringside::RINGSIDE_ISA
