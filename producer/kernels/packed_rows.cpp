// SPDX-License-Identifier: BSD-3-Clause
#include "producer/kernels/packed_rows.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "common/threads/first_failure.hpp"
#include "producer/kernels/block_parts.hpp"
#include "producer/memory/matrix_memory.hpp"

namespace ringside {
namespace {

constexpr std::uint32_t kEight = 8;
constexpr std::uint32_t kBits = 32;

// A row with fewer entries than this takes no more words than a reference to an equal row.
constexpr std::uint64_t kLeastCopiedEntries = 4;

/// An upper limit of the words for rows that have `entries` entries in total: the words for their columns, for their
/// bits, and for the head of a group for each row. Because of the term for blocks, the difference of two limits is an
/// upper limit for the blocks between the two places.
std::uint64_t words_at_most(std::uint64_t entries, std::uint64_t rows, std::uint64_t blocks) {
  return entries + entries / kBits + 3 * rows + blocks;
}

/// Packs the blocks of one thread, one after the other.
class Packer {
 public:
  Packer(const CsrMatrix& matrix, const std::uint32_t* place, const double* scale, std::uint32_t* word, double* value)
      : matrix_(matrix), place_(place), scale_(scale), word_(word), value_(value) {}

  /// Packs a block. single: the block's rows, as offsets from `first_row`, ordered by ascending number of entries.
  void pack(std::uint64_t first_row, std::span<const std::uint16_t> single) {
    first_row_ = first_row;
    place_columns();
    copies_.clear();
    for (std::size_t i = 0; i < single.size();) {
      const std::uint64_t entries = entries_of(single[i]);
      const std::size_t begin = i;
      while (i < single.size() && entries_of(single[i]) == entries) ++i;
      const std::span<const std::uint16_t> equal = without_copies(single.subspan(begin, i - begin), entries);
      if (entries >= kLongRow) {
        for (const std::uint16_t row : equal) put_long_row(row, entries);
      } else {
        put_short_rows(equal, entries);
      }
    }
    if (!copies_.empty()) {
      put_head(PackedKind::kCopies, copies_.size() / 2, 0);
      put_rows(copies_);
    }
    *word_++ = static_cast<std::uint32_t>(PackedKind::kEnd) << 16;
  }

  const std::uint32_t* word() const noexcept { return word_; }
  const double* value() const noexcept { return value_; }

 private:
  std::uint64_t entries_of(std::uint16_t row) const noexcept {
    const std::uint64_t* begin = matrix_.row_begin.data() + first_row_ + row;
    return begin[1] - begin[0];
  }
  const std::uint32_t* columns_of(std::uint16_t row) const noexcept {
    return columns_ + (matrix_.row_begin[first_row_ + row] - matrix_.row_begin[first_row_]);
  }

  /// Finds the block's columns, or their places. Places are far apart in memory, so each is prefetched before it is
  /// looked up.
  void place_columns() {
    const std::uint64_t begin = matrix_.row_begin[first_row_];
    const std::uint32_t* column = matrix_.column.data() + begin;
    columns_ = column;
    if (place_ == nullptr) return;
    constexpr std::size_t kAhead = 64;
    placed_.resize(matrix_.row_begin[std::min(first_row_ + kBlockRows, matrix_.rows)] - begin);
    for (std::size_t e = 0; e < placed_.size(); ++e) {
      __builtin_prefetch(place_ + column[std::min(e + kAhead, placed_.size() - 1)]);
      placed_[e] = place_[column[e]];
    }
    columns_ = placed_.data();
  }

  /// rows: with `entries` entries each. Returns the rows that differ from all earlier rows, and adds the other rows to
  /// `copies_`. Rows of a matrix with values are never compared, because they are rarely equal.
  std::span<const std::uint16_t> without_copies(std::span<const std::uint16_t> rows, std::uint64_t entries) {
    if (rows.size() < 2 || entries < kLeastCopiedEntries || !matrix_.value.empty()) return rows;
    // Equal rows have equal marks; rows that differ rarely have equal marks.
    marks_.clear();
    for (const std::uint16_t row : rows) {
      const std::uint32_t* column = columns_of(row);
      const std::uint64_t ends = std::uint64_t{column[0]} << 32 | column[entries - 1];
      marks_.push_back({ends ^ (std::uint64_t{column[entries / 2]} << 16), row});
    }
    std::sort(marks_.begin(), marks_.end());  // of equal marks, those of earlier rows come first
    std::fill_n(is_copy_, kBlockRows, false);
    bool any = false;
    for (std::size_t begin = 0; begin < marks_.size();) {
      std::size_t end = begin + 1;
      for (; end < marks_.size() && marks_[end].first == marks_[begin].first; ++end) {
        const std::uint16_t row = marks_[end].second;
        const std::uint16_t original = marks_[begin].second;
        if (!std::equal(columns_of(row), columns_of(row) + entries, columns_of(original))) break;
        is_copy_[row] = any = true;
        copies_.insert(copies_.end(), {row, original});
      }
      begin = end;
    }
    if (!any) return rows;
    originals_.clear();
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(originals_), [&](auto row) { return !is_copy_[row]; });
    return originals_;
  }

  void put_head(PackedKind kind, std::size_t rows, std::uint64_t entries) {
    *word_++ = static_cast<std::uint32_t>(kind) << 16 | static_cast<std::uint32_t>(rows);
    *word_++ = static_cast<std::uint32_t>(entries);
  }
  void put_rows(std::span<const std::uint16_t> rows) {
    std::memcpy(word_, rows.data(), rows.size_bytes());
    word_ += (rows.size() + 1) / 2;
  }
  void put_entry(std::uint16_t row, std::uint64_t entry) {
    *word_++ = columns_of(row)[entry];
    put_values(row, entry, 1);
  }
  void put_values(std::uint16_t row, std::uint64_t first, std::uint64_t count) {
    if (value_ == nullptr) return;
    const std::uint64_t begin = matrix_.row_begin[first_row_ + row] + first;
    for (std::uint64_t e = begin; e < begin + count; ++e) {
      *value_++ = scale_ == nullptr ? matrix_.value[e] : scale_[matrix_.column[e]];
    }
  }

  void put_short_rows(std::span<const std::uint16_t> rows, std::uint64_t entries) {
    if (rows.empty()) return;
    put_head(entries == 0 ? PackedKind::kEmpty : PackedKind::kShort, rows.size(), entries);
    put_rows(rows);
    std::size_t i = 0;
    for (; i + 4 <= rows.size(); i += 4) {
      for (std::uint64_t e = 0; e < entries; ++e) {
        for (std::size_t row = i; row < i + 4; ++row) put_entry(rows[row], e);
      }
    }
    for (; i < rows.size(); ++i) {
      for (std::uint64_t e = 0; e < entries; ++e) put_entry(rows[i], e);
    }
  }

  static bool consecutive(const std::uint32_t* column) noexcept {
    for (std::uint32_t i = 1; i < kEight; ++i) {
      if (column[i] != column[0] + i) return false;
    }
    return true;
  }

  void put_long_row(std::uint16_t row, std::uint64_t entries) {
    const std::uint32_t* column = columns_of(row);
    const std::uint64_t eights = entries / kEight;
    bits_.assign((eights + kBits - 1) / kBits, 0);
    bool any = false;
    for (std::uint64_t i = 0; i < eights; ++i) {
      if (!consecutive(column + i * kEight)) continue;
      bits_[i / kBits] |= 1u << i % kBits;
      any = true;
    }
    put_head(any ? PackedKind::kIntervals : PackedKind::kLong, 1, entries);
    put_rows({&row, 1});
    if (!any) {
      word_ = std::copy_n(column, entries, word_);
    } else {
      word_ = std::copy(bits_.begin(), bits_.end(), word_);
      for (std::uint64_t i = 0; i < eights; ++i) {
        const bool named_by_first = (bits_[i / kBits] >> i % kBits & 1) != 0;
        word_ = std::copy_n(column + i * kEight, named_by_first ? 1 : kEight, word_);
      }
      word_ = std::copy_n(column + eights * kEight, entries % kEight, word_);
    }
    put_values(row, 0, entries);
  }

  const CsrMatrix& matrix_;
  const std::uint32_t* place_;
  const double* scale_;  // of each column, instead of the matrix's values; or null
  std::uint32_t* word_;  // the next word to write
  double* value_;        // the next value to write, or null
  std::uint64_t first_row_ = 0;
  const std::uint32_t* columns_ = nullptr;  // the columns of the block's rows, one row after the other
  std::vector<std::uint16_t> copies_;       // pairs: a row, and the row of which it is a copy
  // These are members only to save allocations.
  std::vector<std::uint32_t> placed_;
  std::vector<std::pair<std::uint64_t, std::uint16_t>> marks_;
  std::vector<std::uint16_t> originals_;
  std::vector<std::uint32_t> bits_;
  bool is_copy_[kBlockRows];
};

}  // namespace

PackedRows pack_rows(const CsrMatrix& matrix, const RowBands& rows, const std::uint32_t* place,
                     std::span<const double> scale) {
  PackedRows packed;
  const std::uint64_t blocks = block_count(matrix.rows);
  packed.block.resize(blocks);
  const auto entries_before = [&](std::uint64_t block) {  // of single rows
    return matrix.row_begin[std::min(block * kBlockRows, matrix.rows)] - entries_in_bands(rows, 0, block);
  };
  const auto words_before = [&](std::uint64_t block) {
    return words_at_most(entries_before(block), rows.block[block].single, block);
  };
  // Room for the worst case; only the part that is written takes DRAM. (Far memory is reserved for all of it.)
  packed.word = Array<std::uint32_t>(words_before(blocks) + kReadAheadWords, Holds::kMatrix);
  const bool has_values = !scale.empty() || !matrix.value.empty();
  packed.value = Array<double>(has_values ? entries_before(blocks) : 0, Holds::kMatrix);
  will_be_streamed(packed.word.data(), packed.word.bytes());
  will_be_streamed(packed.value.data(), packed.value.bytes());

  const int threads = omp_get_max_threads();
  const std::vector<std::uint64_t> border = partition_blocks(matrix.row_begin.span(), threads);
  const auto pack = [&](int p) {
    const std::uint64_t first = border[static_cast<std::size_t>(p)];
    const std::uint64_t last = border[static_cast<std::size_t>(p) + 1];
    if (first == last) return;
    Packer packer(matrix, place, scale.empty() ? nullptr : scale.data(), packed.word.data() + words_before(first),
                  packed.value.empty() ? nullptr : packed.value.data() + entries_before(first));
    for (std::uint64_t block = first; block < last; ++block) {
      PackedBlock& at = packed.block[block];
      at.word = static_cast<std::uint64_t>(packer.word() - packed.word.data());
      if (!packed.value.empty()) at.value = static_cast<std::uint64_t>(packer.value() - packed.value.data());
      const std::uint64_t begin = rows.block[block].single;
      packer.pack(block * kBlockRows, {rows.single.data() + begin, rows.block[block + 1].single - begin});
      at.words = static_cast<std::uint64_t>(packer.word() - packed.word.data()) - at.word;
    }
  };
  FirstFailure failure;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int p = 0; p < threads; ++p) failure.guard([&] { pack(p); });
  failure.rethrow();
  return packed;
}

}  // namespace ringside
