// SPDX-License-Identifier: BSD-3-Clause
// The model that chooses a matrix's format: it multiplies counts of a matrix's items by the nanoseconds per item that
// one thread took on the measured machine (docs/inside/kernels.md). The model measures no times, so the choice is the
// same in every run.
#pragma once

#include <cstdint>
#include <span>

#include "producer/kernels/row_bands.hpp"
#include "producer/kernels/row_layout.hpp"
#include "producer/matrix/array.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// A conversion is made if it saves as much time as it takes within this many iterations.
inline constexpr double kPaysWithin = 10;

/// 8 MiB: a vector of up to this many elements is never far, because it fits into a third-level cache.
inline constexpr std::uint64_t kNearVector = std::uint64_t{1} << 20;

/// The counts that determine the choice.
struct FormatCounts {
  std::uint64_t rows = 0;
  std::uint64_t entries = 0;
  bool values = false;
  std::uint64_t single_rows = 0;  // rows outside bands, and their entries
  std::uint64_t single_entries = 0;
  // Reads of cache lines of the vector that are in none of a core's own caches, for two orders of the vector: the
  // original order, and the order by degree.
  double far_reads = 0;
  double far_reads_ranked = 0;
};

/// The estimated time of an iteration with one thread, in nanoseconds. format: must not be kAuto.
double iteration_ns(const FormatCounts& counts, MatrixFormat format) noexcept;
double conversion_ns(const FormatCounts& counts, MatrixFormat format) noexcept;

/// Starts with kBands, which converts nothing. Goes on to kPacked, and then to kRanked (with `may_rank`), as long as
/// each further conversion saves as much time as it takes within kPaysWithin iterations.
MatrixFormat fastest_that_pays(const FormatCounts& counts, bool may_rank) noexcept;

/// Counts the matrix's rows and entries, and chooses the format. rows: the rows and bands of `matrix`. reads: the
/// number of reads of each vector element; empty if the vector's order must not change. Uses all OpenMP threads.
MatrixFormat choose_format(const CsrMatrix& matrix, const RowBands& rows, std::span<const double> reads);

/// Up to this number of bands, it saves time that the product multiplies the vector's elements by their scales; 0 if it
/// never does. Without this, the solver stores a scaled vector in each iteration, and reads it in the next one. rows:
/// the rows and bands of `matrix`, without scales.
std::uint64_t most_bands_with_scales(const CsrMatrix& matrix, const RowBands& rows) noexcept;

/// The places of a vector's elements in an order in which elements that are often read are close to each other. The
/// elements are in classes by the binary exponent of `reads`, with the largest exponent first; within each class they
/// have the original order (Faldu, Diamond and Grot, IISWC 2019). So a thread that writes a contiguous part of the
/// vector writes a contiguous part of each class.
Array<std::uint32_t> places_by_reads(std::span<const double> reads);

}  // namespace ringside
