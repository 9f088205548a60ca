// SPDX-License-Identifier: BSD-3-Clause
#include "node/workloads/placement.hpp"

#include <cmath>

namespace ringside {

Placement place(double all_bytes, double dram_gb_s, double other_gb_s) noexcept {
  Placement placement;
  placement.other_share = other_gb_s / (other_gb_s + dram_gb_s);
  placement.other_bytes = all_bytes * placement.other_share;
  placement.dram_bytes = all_bytes - placement.other_bytes;
  placement.seconds = all_bytes / (dram_gb_s + other_gb_s) * 1e-9;  // = (D - x) / S_d, also where S_d is 0
  return placement;
}

std::uint64_t rows_of_share(std::uint64_t rows, double other_share) noexcept {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(rows) * other_share));
}

}  // namespace ringside
