// SPDX-License-Identifier: BSD-3-Clause
// Per element: 8 B are read from memory (each row only once: it stays in a cache while its two neighbours are
// computed), and 16 B are moved by the write (a plain store first reads the line). Eight loads, seven additions and a
// multiplication: 8 flops.
#include "node/workloads/stencil_row.hpp"

namespace ringside::RINGSIDE_ISA {

void stencil_row(const double* above, const double* here, const double* below, double* __restrict to,
                 std::uint64_t begin, std::uint64_t end) noexcept {
  for (std::uint64_t j = begin; j < end; ++j) {
    to[j] =
        (above[j - 1] + above[j] + above[j + 1] + here[j - 1] + here[j + 1] + below[j - 1] + below[j] + below[j + 1]) *
        0.125;
  }
}

}  // namespace ringside::RINGSIDE_ISA
