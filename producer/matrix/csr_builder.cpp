// SPDX-License-Identifier: BSD-3-Clause
// The work between and after the two readings of the input: sums, first touch, sorting, merging.
#include "producer/matrix/csr_builder.hpp"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <string>

#include "common/platform/error.hpp"
#include "common/threads/first_failure.hpp"
#include "producer/matrix/matrix_checks.hpp"
#include "producer/memory/matrix_memory.hpp"

namespace ringside {
namespace {

constexpr std::size_t kPageBytes = 4096;

struct Entry {
  std::uint32_t column;
  double value;
};

// Entries of one column are ordered by magnitude; of two equal magnitudes, the negative entry comes first. This order
// depends only on the values, so the sum of the values has the same bits for every distribution of lines among threads.
bool before(const Entry& a, const Entry& b) noexcept {
  if (a.column != b.column) return a.column < b.column;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits_a = std::bit_cast<std::uint64_t>(a.value);
  const auto bits_b = std::bit_cast<std::uint64_t>(b.value);
  if ((bits_a & ~kSign) != (bits_b & ~kSign)) return (bits_a & ~kSign) < (bits_b & ~kSign);
  return bits_a > bits_b;
}

// Sorts two parallel arrays in place by heap sort, for rows that are too long to copy.
void sort_in_place(std::uint32_t* column, double* value, std::size_t n) noexcept {
  const auto sift_down = [&](std::size_t root, std::size_t size) {
    const Entry moved{column[root], value[root]};
    for (std::size_t child; (child = 2 * root + 1) < size; root = child) {
      if (child + 1 < size && before({column[child], value[child]}, {column[child + 1], value[child + 1]})) ++child;
      if (!before(moved, {column[child], value[child]})) break;
      column[root] = column[child];
      value[root] = value[child];
    }
    column[root] = moved.column;
    value[root] = moved.value;
  };
  for (std::size_t root = n / 2; root-- > 0;) sift_down(root, n);
  for (std::size_t last = n; last-- > 1;) {
    std::swap(column[0], column[last]);
    std::swap(value[0], value[last]);
    sift_down(0, last);
  }
}

void sort_row(std::uint32_t* column, double* value, std::size_t n, std::vector<Entry>& scratch) {
  constexpr std::size_t kLongestCopiedRow = std::size_t{1} << 20;  // 16 MiB per thread
  if (value == nullptr) {
    if (!std::is_sorted(column, column + n)) std::sort(column, column + n);
    return;
  }
  // The row is strictly ascending: there is nothing to sort or to merge.
  if (std::adjacent_find(column, column + n, std::greater_equal<>()) == column + n) return;
  if (n > kLongestCopiedRow) return sort_in_place(column, value, n);
  scratch.resize(n);
  for (std::size_t k = 0; k < n; ++k) scratch[k] = {column[k], value[k]};
  std::sort(scratch.begin(), scratch.end(), before);
  for (std::size_t k = 0; k < n; ++k) {
    column[k] = scratch[k].column;
    value[k] = scratch[k].value;
  }
}

// Merges a sorted row at `from` into entries at `to` (at or before `from`); returns how many were kept.
std::size_t merge_row(const std::uint32_t* from, const double* from_value, std::size_t n, std::uint32_t* to,
                      double* to_value) noexcept {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < n;) {
    const std::uint32_t column = from[k];
    double sum = from_value == nullptr ? 1.0 : from_value[k];
    for (++k; k < n && from[k] == column; ++k) {
      if (from_value != nullptr) sum += from_value[k];
    }
    if (sum == 0.0) continue;
    to[kept] = column;
    if (to_value != nullptr) to_value[kept] = sum;
    ++kept;
  }
  return kept;
}

// Writes one byte per page. So each part of an array is placed by the thread that will own it. For far memory, a touch
// would only cost a fault, because all threads share its frames.
void touch(void* data, std::size_t first_byte, std::size_t last_byte) noexcept {
  if (in_far_memory(data)) return;
  auto* const bytes = static_cast<volatile char*>(data);
  for (std::size_t at = first_byte; at < last_byte; at += kPageBytes) bytes[at] = 0;
}

// Returns the whole pages of [from, to) to the system.
void give_back(void* data, std::size_t from, std::size_t to) noexcept {
  if (in_far_memory(data)) return shrink_far(data, from);
  from = (from + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (from < to) madvise(static_cast<char*>(data) + from, to - from, MADV_DONTNEED);
}

// begin[r + 1] += begin[r], for n + 1 words, by all threads.
void sum_up(std::uint64_t* begin, std::uint64_t n) {
  std::vector<std::uint64_t> block_sum(static_cast<std::size_t>(omp_get_max_threads()) + 1);
#pragma omp parallel
  {
    const auto threads = static_cast<std::uint64_t>(omp_get_num_threads());
    const auto thread = static_cast<std::uint64_t>(omp_get_thread_num());
    const std::uint64_t per_thread = (n + threads - 1) / threads;
    const std::uint64_t first = std::min(n, thread * per_thread);
    const std::uint64_t last = std::min(n, first + per_thread);
    std::uint64_t sum = 0;
    for (std::uint64_t r = first; r < last; ++r) sum += begin[r + 1];
    block_sum[thread + 1] = sum;
#pragma omp barrier
    sum = 0;
    for (std::uint64_t t = 0; t <= thread; ++t) sum += block_sum[t];
    for (std::uint64_t r = first; r < last; ++r) begin[r + 1] = sum += begin[r + 1];
  }
}

}  // namespace

void require_memory(std::uint64_t bytes) {
  constexpr std::uint64_t kNotWorthAsking = std::uint64_t{64} << 20;
  if (bytes < kNotWorthAsking || matrix_is_far()) return;  // far memory is reserved where it is allocated
  std::ifstream meminfo("/proc/meminfo");
  std::uint64_t available_kib = 0;
  std::uint64_t swap_kib = 0;
  std::string key;
  for (std::uint64_t kib = 0; meminfo >> key >> kib; meminfo.ignore(80, '\n')) {
    if (key == "MemAvailable:") available_kib = kib;
    if (key == "SwapFree:") swap_kib = kib;
  }
  if (available_kib == 0 || bytes / 1024 <= available_kib + swap_kib) return;
  throw system_error("the matrix needs {} MiB of memory, but {} MiB are available; free some, or use a smaller matrix",
                     bytes >> 20, (available_kib + swap_kib) >> 10);
}

std::vector<std::uint64_t> balanced_rows(const std::uint64_t* row_begin, std::uint64_t rows, std::size_t parts) {
  const std::uint64_t work = rows + row_begin[rows];
  std::vector<std::uint64_t> bound{0};
  for (std::size_t part = 1; part < parts; ++part) {
    // The first row with at least part/parts of the work before it.
    const std::uint64_t wanted = work / parts * part;
    std::uint64_t low = bound.back();
    std::uint64_t high = rows;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (row_begin[middle] + middle < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    bound.push_back(low);
  }
  bound.push_back(rows);
  return bound;
}

CsrBuilder::CsrBuilder(std::uint64_t input_rows, std::uint64_t input_columns, Orientation orientation, bool weighted)
    : rows_(orientation == Orientation::kRows ? input_rows : input_columns),
      columns_(orientation == Orientation::kRows ? input_columns : input_rows),
      orientation_(orientation),
      weighted_(weighted) {
  const std::uint64_t words = rows_ + 2;
  require_memory(words * sizeof(std::uint64_t));
  cursor_pages_ = allocate_pages(words * sizeof(std::uint64_t), Holds::kMatrix);
  cursor_ = static_cast<std::uint64_t*>(cursor_pages_.get());
  if (in_far_memory(cursor_)) return;
#pragma omp parallel for schedule(static)
  for (std::uint64_t word = 0; word < words; word += kPageBytes / sizeof(std::uint64_t)) cursor_[word] = 0;
}

void CsrBuilder::allocate() {
  sum_up(cursor_ + 1, rows_);
  stored_ = cursor_[rows_ + 1];
  require_memory(stored_ * (sizeof(std::uint32_t) + (weighted_ ? sizeof(double) : 0)));
  column_pages_ = allocate_pages(stored_ * sizeof(std::uint32_t), Holds::kMatrix);
  column_ = static_cast<std::uint32_t*>(column_pages_.get());
  if (weighted_) {
    value_pages_ = allocate_pages(stored_ * sizeof(double), Holds::kMatrix);
    value_ = static_cast<double*>(value_pages_.get());
  }
  const auto threads = static_cast<std::size_t>(omp_get_max_threads());
  const std::vector<std::uint64_t> bound = balanced_rows(cursor_ + 1, rows_, threads);
#pragma omp parallel for schedule(static, 1)
  for (std::size_t part = 0; part < threads; ++part) {
    const std::uint64_t first = cursor_[bound[part] + 1];
    const std::uint64_t last = cursor_[bound[part + 1] + 1];
    touch(column_, first * sizeof(std::uint32_t), last * sizeof(std::uint32_t));
    if (weighted_) touch(value_, first * sizeof(double), last * sizeof(double));
  }
}

// The rows of each part are merged towards the part's beginning. kept[part]: how many entries of the part remain.
std::uint64_t CsrBuilder::sort_and_merge(const std::vector<std::uint64_t>& bound, std::vector<std::uint64_t>& kept) {
  const std::size_t parts = bound.size() - 1;
  std::vector<std::uint64_t> begin_of(parts + 1);
  for (std::size_t part = 0; part <= parts; ++part) begin_of[part] = cursor_[bound[part]];
  std::uint64_t total = 0;
  FirstFailure failure;
#pragma omp parallel reduction(+ : total)
  {
    std::vector<Entry> scratch;
    const auto merge = [&](std::size_t part) {
      std::uint64_t from = begin_of[part];
      std::uint64_t to = from;
      for (std::uint64_t row = bound[part]; row < bound[part + 1]; ++row) {
        // The beginning of the next part's first row does not change here: `finish_part` closes the gaps between parts.
        const bool last = row + 1 == bound[part + 1];
        const std::uint64_t row_end = last ? begin_of[part + 1] : cursor_[row + 1];
        const std::size_t n = row_end - from;
        double* const value = weighted_ ? value_ + from : nullptr;
        sort_row(column_ + from, value, n, scratch);
        to += merge_row(column_ + from, value, n, column_ + to, weighted_ ? value_ + to : nullptr);
        if (!last) cursor_[row + 1] = to;
        from = row_end;
      }
      kept[part] = to - begin_of[part];
    };
#pragma omp for schedule(dynamic, 1)
    for (std::size_t part = 0; part < parts; ++part) {
      failure.guard([&] { merge(part); });
      total += kept[part];
    }
  }
  failure.rethrow();
  return total;
}

CsrMatrix CsrBuilder::finish(Array<std::uint64_t> id) {
  CsrMatrix matrix = finish_part(std::move(id));
  matrix.content_id = hash_content(matrix);
  return matrix;
}

CsrMatrix CsrBuilder::finish_part(Array<std::uint64_t> id) {
  // Placing must have moved every row's cursor to the next row's beginning. Even if it has not, all entries are in
  // bounds.
  bool consistent = cursor_[rows_] == stored_ && cursor_[0] == 0;
#pragma omp parallel for schedule(static) reduction(&& : consistent)
  for (std::uint64_t row = 0; row < rows_; ++row) consistent = consistent && cursor_[row] <= cursor_[row + 1];
  if (!consistent) throw usage_error("the input changed while it was read; start again when no process writes to it");

  const std::vector<std::uint64_t> bound =
      balanced_rows(cursor_, rows_, 16 * static_cast<std::size_t>(omp_get_max_threads()));
  const std::size_t parts = bound.size() - 1;
  std::vector<std::uint64_t> old_begin(parts);
  for (std::size_t part = 0; part < parts; ++part) old_begin[part] = cursor_[bound[part]];
  std::vector<std::uint64_t> kept(parts);
  const std::uint64_t nonzeros = sort_and_merge(bound, kept);

  if (nonzeros < stored_) {
    // Close the gaps between the ranges, in order. Within a range, merging has already moved the entries together.
    std::uint64_t to = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      const std::uint64_t from = old_begin[part];
      if (from != to) {
        std::memmove(column_ + to, column_ + from, kept[part] * sizeof(std::uint32_t));
        if (weighted_) std::memmove(value_ + to, value_ + from, kept[part] * sizeof(double));
        const std::uint64_t moved = from - to;
#pragma omp parallel for schedule(static)
        for (std::uint64_t row = bound[part]; row < bound[part + 1]; ++row) cursor_[row] -= moved;
      }
      to += kept[part];
    }
    cursor_[rows_] = nonzeros;
    give_back(column_, nonzeros * sizeof(std::uint32_t), stored_ * sizeof(std::uint32_t));
    if (weighted_) give_back(value_, nonzeros * sizeof(double), stored_ * sizeof(double));
  }

  CsrMatrix matrix;
  matrix.rows = rows_;
  matrix.columns = columns_;
  matrix.orientation = orientation_;
  matrix.row_begin = {std::move(cursor_pages_), cursor_, rows_ + 1};
  matrix.column = {std::move(column_pages_), column_, nonzeros};
  if (weighted_) matrix.value = {std::move(value_pages_), value_, nonzeros};
  will_be_streamed(matrix.row_begin.data(), matrix.row_begin.bytes());
  will_be_streamed(matrix.column.data(), matrix.column.bytes());
  will_be_streamed(matrix.value.data(), matrix.value.bytes());
  matrix.id = std::move(id);
  return matrix;
}

}  // namespace ringside
