// SPDX-License-Identifier: BSD-3-Clause
// Where to place data that two groups of threads work on, each in its own memory (thesis, 6.2): so that both end
// together.
//
//   (D - x) / S_d = x / S_n    =>    x = D * S_n / (S_n + S_d),    time = (D - x) / S_d
//
// D: all bytes that are read and written; x: those in the other memory; S_d, S_n: rates of the two groups measured
// beside each other. It assumes that the work costs per byte what a copy costs, in both memories.
#pragma once

#include <cstdint>

namespace ringside {

struct Placement {
  double other_share = 0;  // x / D
  double other_bytes = 0;  // x
  double dram_bytes = 0;   // D - x
  double seconds = 0;      // of both groups
};

/// Rates in GB/s (10^9 bytes), not negative, at least one above 0.
Placement place(double all_bytes, double dram_gb_s, double other_gb_s) noexcept;

/// How many of `rows` rows the other memory gets: the nearest whole number.
std::uint64_t rows_of_share(std::uint64_t rows, double other_share) noexcept;

}  // namespace ringside
