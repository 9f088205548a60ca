// SPDX-License-Identifier: BSD-3-Clause
// Two reference implementations of conjugate gradients. `serial_cg` computes the recurrence in long double; it defines
// the right result. `PlainCg` does the solver's arithmetic in plain serial loops; it defines every bit of every step.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "producer/matrix/csr_matrix.hpp"
#include "producer/solver/solver.hpp"
#include "tests/reference/serial_pagerank.hpp"

namespace ringside::reference {

/// x_k after `iterations` iterations from x_0 = 0. matrix: orientation kRows.
inline std::vector<double> serial_cg(const CsrMatrix& matrix, const std::vector<double>& b, int iterations) {
  const std::uint64_t n = matrix.rows;
  const auto dot = [n](const std::vector<long double>& u, const std::vector<long double>& v) {
    long double sum = 0;
    for (std::uint64_t i = 0; i < n; ++i) sum += u[i] * v[i];
    return sum;
  };
  std::vector<long double> x(n, 0.0L);
  std::vector<long double> r(b.begin(), b.end());
  std::vector<long double> p = r;
  for (int k = 1; k <= iterations; ++k) {
    std::vector<long double> q(n, 0.0L);
    for (std::uint64_t i = 0; i < n; ++i) {
      for (std::uint64_t e = matrix.row_begin[i]; e < matrix.row_begin[i + 1]; ++e) {
        q[i] += static_cast<long double>(weight(matrix, e)) * p[matrix.column[e]];
      }
    }
    const long double rho = dot(r, r);
    const long double alpha = rho / dot(p, q);
    for (std::uint64_t i = 0; i < n; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const long double beta = dot(r, r) / rho;
    for (std::uint64_t i = 0; i < n; ++i) p[i] = r[i] + beta * p[i];
  }
  return {x.begin(), x.end()};
}

/// The steps in double, with the promised order of additions.
class PlainCg {
 public:
  PlainCg(const CsrMatrix& matrix, const std::vector<double>& b)
      : x(matrix.rows, 0.0), r(b), p(b), rho(square_of(b)), matrix_(matrix), norm_of_b_(std::sqrt(rho)) {}

  Change iterate() {
    const std::uint64_t n = matrix_.rows;
    std::vector<double> q(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      q[i] = row_sum_in_promised_order(matrix_, i, [&](std::uint32_t j) { return p[j]; });
    }
    const double alpha = rho / sum_in_promised_order(n, [&](std::uint64_t i) { return p[i] * q[i]; });
    std::vector<double> before = x;
    Change change;
    for (std::uint64_t i = 0; i < n; ++i) {
      x[i] = before[i] + alpha * p[i];
      r[i] = r[i] - alpha * q[i];
      change.linf = std::fmax(change.linf, std::fabs(x[i] - before[i]));
    }
    const double rho_before = rho;
    rho = square_of(r);
    for (std::uint64_t i = 0; i < n; ++i) p[i] = r[i] + rho / rho_before * p[i];
    change.l1 = sum_in_promised_order(n, [&](std::uint64_t i) { return std::fabs(x[i] - before[i]); });
    change.criterion = std::sqrt(rho) / norm_of_b_;
    return change;
  }

  std::vector<double> x;
  std::vector<double> r;
  std::vector<double> p;
  double rho;

 private:
  static double square_of(const std::vector<double>& v) {
    return sum_in_promised_order(v.size(), [&](std::uint64_t i) { return v[i] * v[i]; });
  }

  const CsrMatrix& matrix_;
  double norm_of_b_;
};

}  // namespace ringside::reference
