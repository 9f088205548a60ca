// SPDX-License-Identifier: BSD-3-Clause
// The first fourteen results of a field of f64 as a record, which format 2 of the ring stores. docs/inside/kernels.md
// defines each value. Results that were added later are not in this record; the words of a step contain all results
// (common/reductions/kernels/reduction_table.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ringside {

inline constexpr std::size_t kHistogramBins = 256;
inline constexpr std::size_t kTopEntries = 16;

/// The number of rows whose sums are computed together: 8 KiB, so that a block of both iterates and the two blocks that
/// are prefetched meanwhile fit a first-level cache of 32 KiB.
inline constexpr std::size_t kReductionBlockRows = 1024;

struct TopEntry {
  std::uint64_t row = 0;
  double value = 0;
};

/// The reductions of one iterate x of `rows` doubles. Format 2 of the ring stores this struct as it is
/// (docs/formats/ring_format.md).
struct Reductions {
  std::uint64_t rows = 0;
  double sum = 0;
  double mean = 0;
  double min = 0;                // ignoring NaN, like max, linf and top; +infinity if all values are NaN
  double max = 0;                // -infinity if all values are NaN
  double l1 = 0;                 // sum |x_i|
  double l2 = 0;                 // sqrt(sum x_i^2)
  double linf = 0;               // max |x_i|
  std::uint64_t has_change = 0;  // 1 if there was an iterate to compare with; otherwise 0, and the next three are 0
  double change_l1 = 0;          // sum |x_i - previous_i|
  double change_l2 = 0;
  double change_linf = 0;
  std::uint64_t non_finite = 0;  // the number of entries that are NaN or infinite
  std::uint64_t top_count = 0;   // min(rows that are not NaN, kTopEntries)
  TopEntry top[kTopEntries];     // the largest values first, equal values by ascending row
  // The number of magnitudes |x_i| in each of the logarithmic bins, four per octave from 2^-60: bin b covers [2^(-60 +
  // b/4), 2^(-60 + (b+1)/4)), with each octave divided into four linear parts. The first bin also counts everything
  // smaller (and zeros), the last bin everything larger (and NaN).
  std::uint64_t histogram[kHistogramBins] = {};
};
static_assert(std::is_trivially_copyable_v<Reductions>);

}  // namespace ringside
