// SPDX-License-Identifier: BSD-3-Clause
// Builds a CRS matrix from entries that can be produced twice, in any order and by any number of threads. No list of
// the entries is made: the first reading counts each entry, the second places it. The builder takes only the memory of
// the stored entries. The result does not depend on the entries' order.
//
//   CsrBuilder builder(rows, columns, orientation, weighted);
//   each thread: EntryCounter counter(builder); counter.add(i, j, value) for its entries
//   builder.allocate();
//   each thread: EntryPlacer placer(builder); placer.add(i, j, value) for its entries
//   CsrMatrix matrix = builder.finish();
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// The largest number of rows or columns: both are counted in 32 bits.
inline constexpr std::uint64_t kMaxRows = 0xffff'ffff;

/// The most rows (or columns) that a text of this size may announce, with or without entries. This is limited because a
/// number in a header must not decide how much memory is taken.
constexpr std::uint64_t most_announced_rows(std::uint64_t text_bytes) {
  constexpr std::uint64_t kAlways = std::uint64_t{1} << 23;  // 64 MiB of row beginnings
  return std::min(kMaxRows, std::max(kAlways, 2 * text_bytes));
}

/// Throws `Error` (exit code 3) if the system cannot provide `bytes` bytes of additional memory. Without this check,
/// the process would be killed when it touches the memory.
void require_memory(std::uint64_t bytes);

/// Divides rows into `parts` ranges of about equal work (entries plus rows): parts + 1 ascending row numbers.
/// row_begin: rows + 1 offsets.
std::vector<std::uint64_t> balanced_rows(const std::uint64_t* row_begin, std::uint64_t rows, std::size_t parts);

/// Returned instead of a number of lines if a line is wrong.
inline constexpr std::uint64_t kWrongLine = std::numeric_limits<std::uint64_t>::max();

class EntryCounter;
class EntryPlacer;

class CsrBuilder {
 public:
  // The interface for readers. With this builder, one process reads all pieces of a text; shared_builder.hpp has the
  // builder for several processes.
  using Counter = EntryCounter;
  using Placer = EntryPlacer;
  using How = Orientation;
  /// Those of `pieces` that this process reads; these pieces are contiguous.
  static const std::vector<std::string_view>& own_pieces(How, const std::vector<std::string_view>& pieces) {
    return pieces;
  }
  /// lines: the number of lines that each process has read. total: the sum of these numbers over all processes. before:
  /// their sum over the processes before this one.
  static std::uint64_t total(How, std::uint64_t lines) noexcept { return lines; }
  static std::uint64_t before(How, std::uint64_t) noexcept { return 0; }

  /// The shape of the matrix as the input writes it; `orientation` decides which index becomes the CRS row.
  CsrBuilder(std::uint64_t input_rows, std::uint64_t input_columns, Orientation orientation, bool weighted);

  /// Call this between counting and placing. It sums up the counts and allocates the arrays.
  void allocate();

  /// Sorts the rows, merges duplicates (in a pattern, to one entry; with weights, to their sum, added in ascending
  /// magnitude), drops zeros, and computes the content's id. Throws `Error` (exit code 2) if the two readings produced
  /// different entries, which means that the input has changed between them. `id`: names of the rows, or empty. The
  /// builder cannot be used afterwards.
  CsrMatrix finish(Array<std::uint64_t> id = {});
  /// Does the same as finish, but without content_id. It is for a part, because the id is computed for all parts
  /// together.
  CsrMatrix finish_part(Array<std::uint64_t> id);

 private:
  friend class EntryCounter;
  friend class EntryPlacer;
  std::uint64_t sort_and_merge(const std::vector<std::uint64_t>& bound, std::vector<std::uint64_t>& kept);

  std::uint64_t rows_;
  std::uint64_t columns_;
  Orientation orientation_;
  bool weighted_;
  std::uint64_t stored_ = 0;
  // An array of rows + 2 words. Counting counts the entries of row r in word r + 2. After the counts are summed up,
  // word r + 1 is the beginning of row r. Placing moves it to the end of row r, which is the beginning of row r + 1.
  // Then the first rows + 1 words are the finished row_begin.
  std::shared_ptr<void> cursor_pages_;
  std::uint64_t* cursor_ = nullptr;
  std::shared_ptr<void> column_pages_;
  std::uint32_t* column_ = nullptr;
  std::shared_ptr<void> value_pages_;
  double* value_ = nullptr;
};

// Successive entries belong to rows at random places in memory, and an atomic addition waits for its cache line and for
// all earlier stores. Therefore each thread gathers a few entries, prefetches their cache lines, and does the additions
// once these lines have arrived.
inline constexpr std::size_t kEntriesGathered = 64;

/// Counts every entry in the first reading. Each thread has its own EntryCounter, which must be destroyed before
/// `allocate`.
class EntryCounter {
 public:
  explicit EntryCounter(CsrBuilder& builder) noexcept : builder_(builder) {}
  ~EntryCounter() { flush(); }
  EntryCounter(const EntryCounter&) = delete;
  EntryCounter& operator=(const EntryCounter&) = delete;

  /// i < input_rows, j < input_columns; the value does not matter yet.
  void add(std::uint32_t i, std::uint32_t j, double /*value*/) noexcept {
    const std::uint32_t row = builder_.orientation_ == Orientation::kRows ? i : j;
    __builtin_prefetch(&builder_.cursor_[row + std::uint64_t{2}], 1);
    row_[gathered_++] = row;
    if (gathered_ == kEntriesGathered) flush();
  }

 private:
  void flush() noexcept {
    for (std::size_t k = 0; k < gathered_; ++k) {
      const std::atomic_ref<std::uint64_t> count(builder_.cursor_[row_[k] + std::uint64_t{2}]);
      count.fetch_add(1, std::memory_order_relaxed);
    }
    gathered_ = 0;
  }

  CsrBuilder& builder_;
  std::size_t gathered_ = 0;
  std::uint32_t row_[kEntriesGathered];
};

/// Places every entry in the second reading. Each thread has its own EntryPlacer, which must be destroyed before
/// `finish`.
class EntryPlacer {
 public:
  explicit EntryPlacer(CsrBuilder& builder) noexcept : builder_(builder) {}
  ~EntryPlacer() { flush(); }
  EntryPlacer(const EntryPlacer&) = delete;
  EntryPlacer& operator=(const EntryPlacer&) = delete;

  /// i < input_rows, j < input_columns; the value is ignored in a pattern.
  void add(std::uint32_t i, std::uint32_t j, double value) noexcept {
    const bool as_written = builder_.orientation_ == Orientation::kRows;
    const std::uint32_t row = as_written ? i : j;
    __builtin_prefetch(&builder_.cursor_[row + std::uint64_t{1}], 1);
    row_[gathered_] = row;
    column_[gathered_] = as_written ? j : i;
    value_[gathered_] = value;
    if (++gathered_ == kEntriesGathered) flush();
  }

 private:
  void flush() noexcept {
    std::uint64_t at[kEntriesGathered];
    for (std::size_t k = 0; k < gathered_; ++k) {
      const std::atomic_ref<std::uint64_t> cursor(builder_.cursor_[row_[k] + std::uint64_t{1}]);
      at[k] = cursor.fetch_add(1, std::memory_order_relaxed);
    }
    for (std::size_t k = 0; k < gathered_; ++k) {
      if (at[k] >= builder_.stored_) continue;  // more entries than in the first reading; `finish` detects this
      builder_.column_[at[k]] = column_[k];
      if (builder_.value_ != nullptr) builder_.value_[at[k]] = value_[k];
    }
    gathered_ = 0;
  }

  CsrBuilder& builder_;
  std::size_t gathered_ = 0;
  std::uint32_t row_[kEntriesGathered];
  std::uint32_t column_[kEntriesGathered];
  double value_[kEntriesGathered];
};

}  // namespace ringside
