// SPDX-License-Identifier: BSD-3-Clause
// The simulation of the thesis (7.2, 7.3), with its own loops: a power iteration with a sparse matrix in compressed
// rows and values. A second group of threads copies each iterate into another memory and sums it up five times. The
// program has two vectors in DRAM, one array in the other memory, and two locks.
//
// The publication does not state the damping (here 0.85), the start (1 / n), the matrix's values (1 / entries of the
// column), how another thread can release a lock (here semaphores, which use the kernel's futex), and when the run
// ends. Here both groups process a fixed number of iterates; the time that generation waits for the last analysis is
// idle time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "node/model/node.hpp"

namespace ringside {

inline constexpr int kPublishedPasses = 5;
inline constexpr double kPublishedDamping = 0.85;

/// A matrix in compressed rows.
struct PublishedMatrix {
  std::uint64_t rows = 0;
  std::vector<std::uint64_t> begin;  // rows + 1
  std::vector<std::uint32_t> column;
  std::vector<double> value;
};

/// A grid of side * side points, each with its eight neighbours: 4 <= side. (The published n = 4,000,000 is side 2000.)
PublishedMatrix grid_of_eight(std::uint64_t side);

/// x[i] = d * (sum of value * previous[column]) + c for the rows [begin, end). Returns the largest signed difference
/// from the previous vector, as in the publication.
double generate_rows(const PublishedMatrix& matrix, const double* previous, double* x, double c, std::uint64_t begin,
                     std::uint64_t end) noexcept;

/// The largest relative difference of two vectors of the same length: |a - b| / |b|. It is infinite for NaN.
struct Difference {
  double relative = 0;
  std::size_t row = 0;
};
Difference largest_difference(std::span<const double> a, std::span<const double> b) noexcept;

struct PipelineSetting {
  std::vector<int> generation_cpus;  // at least one
  std::vector<int> analysis_cpus;    // none: all threads do both, one after the other
  Tier tier;                         // the tier of the copy
  int iterations = 100;
};

/// Sums over all iterations. total = generation + generation idle = transfer + analysis + analysis idle.
struct PipelineTimes {
  std::int64_t generation_ns = 0;
  std::int64_t generation_idle_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t analysis_ns = 0;
  std::int64_t analysis_idle_ns = 0;
  std::int64_t total_ns = 0;
};

struct PipelineResult {
  PipelineTimes times;
  std::vector<double> sums;          // the sum of each iterate, from the last pass
  std::vector<double> last;          // the last iterate as it was copied; only if wanted
  std::vector<double> generation_s;  // the time of each iteration
  std::vector<double> analysis_s;    // the time of each iteration: transfer and analysis
};

/// Runs the pipeline. Without analysis threads it runs all in one group (thesis, 7.2), without a copy: transfer and
/// both idle times are 0. Throws Error (exit code 3).
PipelineResult run_published_pipeline(const PublishedMatrix& matrix, const PipelineSetting& setting,
                                      bool with_last = false);

}  // namespace ringside
