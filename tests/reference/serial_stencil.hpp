// SPDX-License-Identifier: BSD-3-Clause
// The stencil as one loop over one pair of arrays: the mean of the eight neighbours, which are added row by row. This
// loop defines every bit of both versions that work in two memories.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace ringside::testing {

/// a: has rows * columns entries. The border keeps its values. Returns the array after `sweeps` sweeps.
inline std::vector<double> serial_stencil(std::vector<double> a, std::size_t rows, std::size_t columns, int sweeps) {
  std::vector<double> b = a;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t i = 1; i + 1 < rows; ++i) {
      for (std::size_t j = 1; j + 1 < columns; ++j) {
        const double* at = &a[i * columns + j];
        const auto n = static_cast<std::ptrdiff_t>(columns);
        double sum = at[-n - 1] + at[-n] + at[-n + 1];
        sum = sum + at[-1] + at[1];
        sum = sum + at[n - 1] + at[n] + at[n + 1];
        b[i * columns + j] = sum * 0.125;
      }
    }
    std::swap(a, b);
  }
  return a;
}

}  // namespace ringside::testing
