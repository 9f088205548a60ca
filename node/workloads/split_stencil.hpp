// SPDX-License-Identifier: BSD-3-Clause
// The stencil over two memories (thesis, 6.3 and 6.4): the upper rows are in DRAM and the lower rows in another tier,
// each part with its own threads. Version 1 reads the row across the border in place. In version 2 each side has a copy
// of the other side's border row (a ghost row). After each sweep, the threads copy the ghost rows again from the arrays
// just written, so that the next sweep reads current values. The results of both versions are bit-equal to those of the
// serial loop.
#pragma once

#include <cstdint>
#include <vector>

#include "node/model/node.hpp"

namespace ringside {

enum class StencilVersion { kAcrossBorder = 1, kGhostRows = 2 };

struct StencilSetting {
  StencilVersion version = StencilVersion::kGhostRows;
  std::uint64_t rows = 0;        // at least 4
  std::uint64_t columns = 0;     // at least 3
  std::uint64_t lower_rows = 0;  // the number of rows in the other tier; 1 to rows - 1
  std::vector<int> upper_cpus;   // at least one
  std::vector<int> lower_cpus;   // at least one
  Tier lower_tier;
  int sweeps = 10;
};

struct SweepTimes {
  double upper_s = 0;  // the time of the group's slowest thread
  double lower_s = 0;
  double total_s = 0;  // the total time, including the barriers and the exchange
};

struct StencilResult {
  std::vector<SweepTimes> sweeps;
  std::vector<std::vector<double>> thread_s;  // by thread, the upper ones first: the thread's own time of each sweep
  std::vector<double> values;                 // rows * columns, after the last sweep; only if wanted
};

/// The initial value of element (i, j), in both arrays.
double stencil_start(std::uint64_t i, std::uint64_t j) noexcept;

/// Throws Error (exit code 3).
StencilResult run_stencil(const StencilSetting& setting, bool with_values = false);

}  // namespace ringside
