// SPDX-License-Identifier: BSD-3-Clause
// Two reference implementations of PageRank. `serial_pagerank` computes the formula in long double; it defines the
// right result. `PlainPagerank` does the solver's arithmetic in plain serial loops; it defines every bit. The entries
// of a row are added in column order, in eight lanes if there are 32 or more. Sums over rows are added in eight lanes
// within blocks of 1024 rows, and the sums of the blocks are added in order, with compensation.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "producer/matrix/csr_matrix.hpp"
#include "producer/solver/solver.hpp"

namespace ringside::reference {

inline double weight(const CsrMatrix& links, std::uint64_t e) {
  return links.value.empty() ? 1.0 : links.value[e];
}

/// x_k after `iterations` iterations from x_0 = 1/n. links: orientation kInLinks.
inline std::vector<double> serial_pagerank(const CsrMatrix& links, double damping, int iterations) {
  const std::uint64_t n = links.rows;
  const auto nodes = static_cast<long double>(n);
  const auto d = static_cast<long double>(damping);
  std::vector<long double> leaving(n, 0.0L);
  for (std::uint64_t e = 0; e < links.nonzeros(); ++e) leaving[links.column[e]] += weight(links, e);

  std::vector<long double> x(n, 1.0L / nodes);
  for (int k = 1; k <= iterations; ++k) {
    long double dangling = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (leaving[i] == 0) dangling += x[i];
    }
    std::vector<long double> next(n);
    for (std::uint64_t j = 0; j < n; ++j) {
      long double sum = 0;
      for (std::uint64_t e = links.row_begin[j]; e < links.row_begin[j + 1]; ++e) {
        const std::uint32_t i = links.column[e];
        sum += weight(links, e) / leaving[i] * x[i];
      }
      next[j] = (1 - d) / nodes + d * dangling / nodes + d * sum;
    }
    x = next;
  }
  return {x.begin(), x.end()};
}

/// The sum of term(i) for i = 0 .. n - 1, in the order that the solvers promise.
template <class Term>
double sum_in_promised_order(std::uint64_t n, const Term& term) {
  double total = 0;
  double error = 0;
  for (std::uint64_t first = 0; first < n; first += 1024) {
    double lane[8] = {};
    for (std::uint64_t i = first; i < n && i < first + 1024; ++i) lane[i % 8] += term(i);
    const double block = ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
    const double sum = total + block;
    if (std::fabs(total) >= std::fabs(block)) {
      error += (total - sum) + block;
    } else {
      error += (block - sum) + total;
    }
    total = sum;
  }
  return total + error;
}

/// The sum of value * x(column) over a row's entries, in the order that the solvers promise.
template <class X>
double row_sum_in_promised_order(const CsrMatrix& matrix, std::uint64_t row, const X& x) {
  const std::uint64_t first = matrix.row_begin[row];
  const std::uint64_t last = matrix.row_begin[row + 1];
  if (last - first < 32) {
    double sum = 0;
    for (std::uint64_t e = first; e < last; ++e) sum += weight(matrix, e) * x(matrix.column[e]);
    return sum;
  }
  double lane[8] = {};
  for (std::uint64_t e = first; e < last; ++e) lane[(e - first) % 8] += weight(matrix, e) * x(matrix.column[e]);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

class PlainPagerank {
 public:
  PlainPagerank(const CsrMatrix& links, double damping)
      : links_(links), d_(damping), scale_(links.rows), x(links.rows, 1.0 / static_cast<double>(links.rows)) {
    for (std::uint64_t e = 0; e < links.nonzeros(); ++e) scale_[links.column[e]] += weight(links, e);
    for (double& scale : scale_) scale = scale > 0 ? d_ / scale : 0.0;
  }

  Change iterate() {
    const std::uint64_t n = links_.rows;
    const double dangling = sum_in_promised_order(n, [&](std::uint64_t i) { return scale_[i] == 0 ? x[i] : 0.0; });
    const double base = ((1.0 - d_) + d_ * dangling) / static_cast<double>(n);
    std::vector<double> next(n);
    Change change;
    for (std::uint64_t j = 0; j < n; ++j) {
      next[j] = base + row_sum_in_promised_order(links_, j, [&](std::uint32_t i) { return x[i] * scale_[i]; });
      change.linf = std::fmax(change.linf, std::fabs(next[j] - x[j]));
    }
    change.l1 = sum_in_promised_order(n, [&](std::uint64_t i) { return std::fabs(next[i] - x[i]); });
    x = next;
    return change;
  }

 private:
  const CsrMatrix& links_;
  double d_;
  std::vector<double> scale_;

 public:
  std::vector<double> x;  // x_k
};

}  // namespace ringside::reference
