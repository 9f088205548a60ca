// Builds a CRS matrix from entries that can be produced twice, in any order and by any number of threads, without ever
// holding a list of them: the first time each entry is counted, the second time it is put where it belongs. Memory is
// that of the stored entries; the result does not depend on the order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "producer/csr_matrix.hpp"

namespace ringside {

/// The largest number of rows or columns: both are counted in 32 bits.
inline constexpr std::uint64_t kMaxRows = 0xffff'ffff;

/// How many rows (or columns) a text of that size may announce, entries or not: a number in a header must not decide
/// how much memory is taken.
constexpr std::uint64_t most_announced_rows(std::uint64_t text_bytes) {
  constexpr std::uint64_t kAlways = std::uint64_t{1} << 23;  // 64 MiB of row beginnings
  return std::min(kMaxRows, std::max(kAlways, 2 * text_bytes));
}

/// Throws `Error` (exit code 3) if the system cannot give `bytes` more memory, before touching it would end the
/// process.
void require_memory(std::uint64_t bytes);

/// Cuts rows into `parts` runs of about equal work (entries plus rows): parts + 1 ascending row numbers.
/// row_begin: rows + 1 offsets.
std::vector<std::uint64_t> balanced_rows(const std::uint64_t* row_begin, std::uint64_t rows, std::size_t parts);

class CsrBuilder {
 public:
  /// Shape of the matrix as the input writes it; `orientation` decides which index becomes the CRS row.
  CsrBuilder(std::uint64_t input_rows, std::uint64_t input_columns, Orientation orientation, bool weighted);

  /// First time, for every entry, from any thread; i < input_rows, j < input_columns.
  void count(std::uint32_t i, std::uint32_t j) noexcept {
    const std::uint64_t row = orientation_ == Orientation::kRows ? i : j;
    std::atomic_ref<std::uint64_t>(cursor_[row + 2]).fetch_add(1, std::memory_order_relaxed);
  }

  /// Between the two: sums up the counts and allocates the arrays.
  void allocate();

  /// Second time, for every entry, from any thread. `value` is ignored in a pattern.
  void place(std::uint32_t i, std::uint32_t j, double value) noexcept {
    const bool as_written = orientation_ == Orientation::kRows;
    const std::uint64_t at = std::atomic_ref<std::uint64_t>(cursor_[(as_written ? i : j) + std::uint64_t{1}])
                                 .fetch_add(1, std::memory_order_relaxed);
    if (at >= stored_) return;  // more entries than the first time: `finish` finds it out
    column_[at] = as_written ? j : i;
    if (value_ != nullptr) value_[at] = value;
  }

  /// Sorts the rows, merges duplicates (a pattern: to one; weighted: their sum, added in ascending magnitude), drops
  /// zeros, and names the content. Throws `Error` (exit code 2) if the two times produced different entries: the
  /// input changed underneath. `id`: names of the rows, or empty. The builder is spent afterwards.
  CsrMatrix finish(Array<std::uint64_t> id = {});

 private:
  std::uint64_t sort_and_merge(const std::vector<std::uint64_t>& bound, std::vector<std::uint64_t>& kept);

  std::uint64_t rows_;
  std::uint64_t columns_;
  Orientation orientation_;
  bool weighted_;
  std::uint64_t stored_ = 0;
  // rows + 2 words. Counting adds row r up in [r + 2]; summed up, [r + 1] is where r begins; placing moves it on to
  // where r ends, which is where r + 1 begins: then the first rows + 1 words are the finished row_begin.
  std::shared_ptr<void> cursor_pages_;
  std::uint64_t* cursor_ = nullptr;
  std::shared_ptr<void> column_pages_;
  std::uint32_t* column_ = nullptr;
  std::shared_ptr<void> value_pages_;
  double* value_ = nullptr;
};

}  // namespace ringside
