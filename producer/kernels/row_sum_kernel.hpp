// SPDX-License-Identifier: BSD-3-Clause
// The sum of one row, in the order of producer/kernels/row_product.hpp. This is a part of the kernels that are compiled
// once per instruction set, as are the other files *_kernel.hpp.
#pragma once

#include "producer/kernels/block_kernel.hpp"
#include "producer/kernels/row_product.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

/// Eight running sums of one long row.
struct LongRow {
  Register lanes[kParts] = {};

  /// Adds eight entries, in the order of the row.
  template <bool kValues>
  void add_eight(const std::uint32_t* column, const double* value, const double* x) noexcept {
    for (int part = 0; part < kParts; ++part) {
      const std::uint32_t* c = column + part * kWidth;
#if defined(__AVX512F__)
      const Register from = {x[c[0]], x[c[1]], x[c[2]], x[c[3]], x[c[4]], x[c[5]], x[c[6]], x[c[7]]};
#elif defined(__AVX__)
      const Register from = {x[c[0]], x[c[1]], x[c[2]], x[c[3]]};
#else
      const Register from = {x[c[0]], x[c[1]]};
#endif
      lanes[part] += kValues ? load(value + part * kWidth) * from : from;
    }
  }
  template <bool kValues>
  void add_consecutive(const double* value, const double* x) noexcept {
    for (int part = 0; part < kParts; ++part) {
      const Register from = load(x + part * kWidth);
      lanes[part] += kValues ? load(value + part * kWidth) * from : from;
    }
  }
  /// The row's sum, including its last `count` entries, which are fewer than eight.
  template <bool kValues>
  double sum(const std::uint32_t* column, const double* value, std::uint32_t count, const double* x) const noexcept {
    double left[kLanes] = {};
    for (std::uint32_t i = 0; i < count; ++i) left[i] = kValues ? value[i] * x[column[i]] : x[column[i]];
    Register all[kParts];
    for (int part = 0; part < kParts; ++part) all[part] = lanes[part] + load(left + part * kWidth);
    return sum_of_lanes(all);
  }
};

// Columns are prefetched 1 kB ahead. (Measured: 1/2 and 2 kB give the same time, 4 kB is slower.)
constexpr std::uint64_t kColumnsAhead = 256;
constexpr std::uint32_t kColumnsInLine = 16;

// kFar: x is larger than the caches, and its elements are prefetched this many entries ahead. A core has some hundred
// instructions in flight. Without prefetches it waits for nine or ten such elements at a time, although fifty are
// possible. (Relative times measured on rmat:22: 1.00 without prefetches, 0.95 with 32 entries, 0.75 with 96 to 256
// entries.)
constexpr std::uint64_t kEntriesAhead = 128;
static_assert(kEntriesAhead + kLanes <= kReadAheadWords);

// The columns are followed by the heads and columns of other groups. Prefetches of these are useless but harmless.
template <bool kFar>
inline void fetch(const double* x, const std::uint32_t* column, std::uint32_t count) noexcept {
  if constexpr (kFar) {
    for (std::uint32_t i = 0; i < count; ++i) prefetch(x, column[kEntriesAhead + i]);
  }
}

template <bool kValues, bool kFar>
inline double sum_long_row(const std::uint32_t* column, const double* value, std::uint64_t entries,
                           const double* x) noexcept {
  LongRow row;
  std::uint64_t e = 0;
  for (; e + kLanes <= entries; e += kLanes) {
    prefetch(column, e + kColumnsAhead);
    fetch<kFar>(x, column + e, kLanes);
    row.add_eight<kValues>(column + e, kValues ? value + e : nullptr, x);
  }
  return row.sum<kValues>(column + e, kValues ? value + e : nullptr, static_cast<std::uint32_t>(entries - e), x);
}

template <bool kValues>
inline double sum_row(const std::uint32_t* column, const double* value, std::uint64_t entries,
                      const double* x) noexcept {
  if (entries >= kLongRow) return sum_long_row<kValues, false>(column, value, entries, x);
  double sum = 0;
  for (std::uint64_t e = 0; e < entries; ++e) sum += kValues ? value[e] * x[column[e]] : x[column[e]];
  return sum;
}

}  // namespace
}  // namespace ringside::RINGSIDE_ISA
