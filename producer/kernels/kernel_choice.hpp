// The model that chooses a kernel: counts of a matrix times the nanoseconds each counted thing took one thread of the
// machine they were measured on (docs/kernels.md). Counts, not a stopwatch: the choice is the same in every run.
#pragma once

#include <cstdint>
#include <span>

#include "producer/kernels/row_layout.hpp"
#include "producer/kernels/row_runs.hpp"
#include "producer/matrix/array.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// A conversion is done if it pays for itself within so many iterations.
inline constexpr double kPaysWithin = 10;

/// 8 MiB: a vector of up to so many elements is never far, a third-level cache has it.
inline constexpr std::uint64_t kNearVector = std::uint64_t{1} << 20;

/// What the choice is made from.
struct KernelCounts {
  std::uint64_t rows = 0;
  std::uint64_t entries = 0;
  bool values = false;
  std::uint64_t single_rows = 0;  // outside runs, and their entries
  std::uint64_t single_entries = 0;
  // Reads of the vector that find its line in no cache of a core's own: with the vector as it is, and ordered by
  // degree.
  double far_reads = 0;
  double far_reads_ranked = 0;
};

/// Nanoseconds of one thread, estimated. `kernel`: not kAuto.
double iteration_ns(const KernelCounts& counts, Kernel kernel) noexcept;
double conversion_ns(const KernelCounts& counts, Kernel kernel) noexcept;

/// From kRuns, which converts nothing, to kPacked and on to kRanked (with `may_rank`), as long as a step's conversion
/// pays for itself within kPaysWithin iterations.
Kernel fastest_that_pays(const KernelCounts& counts, bool may_rank) noexcept;

/// Counts, and chooses. rows: of `matrix`, with its runs. reads: how often each element of the vector is read, or empty
/// if it must be read where it is. Uses all OpenMP threads.
Kernel choose_kernel(const CsrMatrix& matrix, const RowRuns& rows, std::span<const double> reads);

/// Where a vector's elements lie when those read often stand together: in classes by the binary exponent of `reads`,
/// the largest first, in their own order within each (Faldu, Diamond and Grot, IISWC 2019). So every thread that writes
/// a contiguous part of the vector writes a contiguous part of each class.
Array<std::uint32_t> places_by_reads(std::span<const double> reads);

}  // namespace ringside
