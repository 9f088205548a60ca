// The model that chooses a kernel: counts of a matrix times the nanoseconds each counted thing took one thread of the
// machine they were measured on (docs/kernels.md). Counts, not a stopwatch: the choice is the same in every run.
#pragma once

#include <cstdint>

#include "producer/array.hpp"
#include "producer/csr_matrix.hpp"
#include "producer/row_layout.hpp"
#include "producer/row_runs.hpp"

namespace ringside {

/// A conversion is done if it pays for itself within so many iterations.
inline constexpr double kPaysWithin = 10;

/// What the choice is made from.
struct KernelCounts {
  std::uint64_t rows = 0;
  std::uint64_t entries = 0;
  std::uint64_t single_rows = 0;  // outside runs, and their entries
  std::uint64_t single_entries = 0;
  // Reads of the vector that find its line in no cache of a core's own: with the vector as it is, and ordered by
  // degree.
  std::uint64_t far_reads = 0;
  std::uint64_t far_reads_ranked = 0;
};

/// Nanoseconds of one thread, estimated. `kernel`: not kAuto.
double iteration_ns(const KernelCounts& counts, Kernel kernel) noexcept;
double conversion_ns(const KernelCounts& counts, Kernel kernel) noexcept;

/// Of the kernels whose conversion, if they have one, pays for itself within kPaysWithin iterations against that
/// without one (kRuns), the one with the fastest iteration.
Kernel fastest_that_pays(const KernelCounts& counts, bool may_rank) noexcept;

/// Counts, and chooses. rows: of `matrix`, with its runs. Uses all OpenMP threads.
Kernel choose_kernel(const CsrMatrix& matrix, const RowRuns& rows, bool may_rank);

/// Where a vector's elements lie when those read often stand together: by classes of how many entries their column has
/// (a class for every power of two, the largest first), and in their own order within each (Faldu, Diamond and Grot,
/// IISWC 2019). One place for each column; every thread that writes a contiguous part of the vector writes a contiguous
/// part of each class.
Array<std::uint32_t> places_by_degree(const CsrMatrix& matrix);

}  // namespace ringside
