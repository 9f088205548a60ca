// SPDX-License-Identifier: BSD-3-Clause
// Where to place data for two groups of threads, each in its own memory, so that both end at the same time (thesis,
// 6.2):
//
//   (D - x) / S_d = x / S_n    =>    x = D * S_n / (S_n + S_d),    time = (D - x) / S_d
//
// D: all bytes read and written; x: those in the other memory; S_d, S_n: rates of the two groups measured side by side.
// Assumes that the work costs as much per byte as a copy, in both memories.
#pragma once

#include <cmath>
#include <cstdint>

namespace ringside {

struct Placement {
  double other_share = 0;  // x / D
  double other_bytes = 0;  // x
  double dram_bytes = 0;   // D - x
  double seconds = 0;      // the time of both groups
};

/// Rates in GB/s (10^9 bytes), not negative, at least one above 0.
inline Placement place(double all_bytes, double dram_gb_s, double other_gb_s) noexcept {
  Placement placement;
  placement.other_share = other_gb_s / (other_gb_s + dram_gb_s);
  placement.other_bytes = all_bytes * placement.other_share;
  placement.dram_bytes = all_bytes - placement.other_bytes;
  placement.seconds = all_bytes / (dram_gb_s + other_gb_s) * 1e-9;  // = (D - x) / S_d, even if S_d is 0
  return placement;
}

/// The other memory's share of `rows` rows, rounded to the nearest whole number.
inline std::uint64_t rows_of_share(std::uint64_t rows, double other_share) noexcept {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(rows) * other_share));
}

}  // namespace ringside
