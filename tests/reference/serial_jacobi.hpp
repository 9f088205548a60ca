// SPDX-License-Identifier: BSD-3-Clause
// Two reference implementations of Jacobi. `serial_jacobi` computes the formula row by row in long double; it defines
// the right result. `plain_jacobi` does the solver's arithmetic in plain serial loops; it defines every bit.
#pragma once

#include <cstdint>
#include <vector>

#include "producer/matrix/csr_matrix.hpp"
#include "tests/reference/serial_pagerank.hpp"

namespace ringside::reference {

/// x_k after `iterations` iterations from x_0 = 0. matrix: orientation kRows.
inline std::vector<double> serial_jacobi(const CsrMatrix& matrix, const std::vector<double>& b, int iterations) {
  std::vector<long double> x(matrix.rows, 0.0L);
  for (int k = 1; k <= iterations; ++k) {
    std::vector<long double> next(matrix.rows);
    for (std::uint64_t i = 0; i < matrix.rows; ++i) {
      long double rest = b[i];
      long double diagonal = 0;
      for (std::uint64_t e = matrix.row_begin[i]; e < matrix.row_begin[i + 1]; ++e) {
        const long double value = matrix.value.empty() ? 1.0 : matrix.value[e];
        if (matrix.column[e] == i) {
          diagonal = value;
        } else {
          rest -= value * x[matrix.column[e]];
        }
      }
      next[i] = rest / diagonal;
    }
    x = next;
  }
  return {x.begin(), x.end()};
}

/// x_k in double, with the promised order of additions.
inline std::vector<double> plain_jacobi(const CsrMatrix& matrix, const std::vector<double>& b, int iterations) {
  std::vector<double> x(matrix.rows, 0.0);
  for (int k = 1; k <= iterations; ++k) {
    std::vector<double> next(matrix.rows);
    for (std::uint64_t i = 0; i < matrix.rows; ++i) {
      double diagonal = 0;
      for (std::uint64_t e = matrix.row_begin[i]; e < matrix.row_begin[i + 1]; ++e) {
        if (matrix.column[e] == i) diagonal = weight(matrix, e);
      }
      const double sum = row_sum_in_promised_order(matrix, i, [&](std::uint32_t j) { return x[j]; });
      next[i] = x[i] + (b[i] - sum) / diagonal;
    }
    x.swap(next);
  }
  return x;
}

}  // namespace ringside::reference
