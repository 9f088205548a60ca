// The oracle for Jacobi: the formula, row by row, in long double.
#pragma once

#include <cstdint>
#include <vector>

#include "producer/csr_matrix.hpp"

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

}  // namespace ringside::reference
