// SPDX-License-Identifier: BSD-3-Clause
// Helpers for the tests of the solvers: runs to their end; and, for A x = b, right-hand sides, positive definite
// matrices, and products with these matrices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "producer/matrix/csr_matrix.hpp"
#include "producer/solver/convergence.hpp"
#include "producer/solver/linear_system.hpp"
#include "producer/solver/solver.hpp"
#include "tests/reference/small_matrix.hpp"

namespace ringside::testing {

inline RightSide right_side_of(const std::vector<double>& values) {
  RightSide b{Array<double>(values.size()), "test"};
  std::copy(values.begin(), values.end(), b.value.begin());
  return b;
}

/// The Laplacian of the graph plus the identity. Off the diagonal: -1 for each pair of different rows that `links`
/// connect in either direction. On the diagonal: the number of such entries in the row, plus one.
inline CsrMatrix laplacian_plus_one(std::uint64_t rows, const std::vector<reference::Entry>& links) {
  std::vector<reference::Entry> both;
  for (const reference::Entry& link : links) {
    if (link.row == link.column) continue;
    both.push_back({link.row, link.column, -1});
    both.push_back({link.column, link.row, -1});
  }
  const CsrMatrix neighbours = reference::build_rows(rows, both);  // each pair once
  for (std::uint64_t row = 0; row < rows; ++row) {
    both.push_back({row, row, 1.0 + static_cast<double>(neighbours.row_begin[row + 1] - neighbours.row_begin[row])});
  }
  return reference::build_rows(rows, both);
}

/// Numbers between -1 and 1.
inline std::vector<double> random_values(std::uint64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  std::vector<double> values(count);
  for (double& v : values) v = value(random);
  return values;
}

/// The result of a run to its end, with the values that the convergence check found.
struct Solved {
  std::vector<double> x;
  int iterations = 0;
  Change change;
  Progress progress = Progress::kRunning;
  double growth = 0;  // growth per iteration, at the end
  double largest_change = 0;
  int largest_at = 0;  // the iteration of the largest change
};

inline Solved solve(Solver& solver, double tolerance, int most) {
  Solved out;
  out.x.resize(solver.rows());
  std::vector<double> next(solver.rows());
  solver.start(out.x.data());
  solver.prepare(out.x.data(), {});
  ConvergenceCheck check(tolerance, solver.growth_limit());
  while (out.iterations < most && out.progress == Progress::kRunning) {
    out.change = solver.iterate(out.x.data(), next.data());
    out.x.swap(next);
    ++out.iterations;
    if (out.change.l1 > out.largest_change) {
      out.largest_change = out.change.l1;
      out.largest_at = out.iterations;
    }
    out.progress = check.observe(out.change.criterion);
  }
  out.growth = check.growth_per_iteration().value_or(0);
  return out;
}

/// A x.
inline std::vector<double> product(const CsrMatrix& matrix, const std::vector<double>& x) {
  std::vector<double> sums(matrix.rows, 0.0);
  for (std::uint64_t i = 0; i < matrix.rows; ++i) {
    for (std::uint64_t e = matrix.row_begin[i]; e < matrix.row_begin[i + 1]; ++e) {
      sums[i] += matrix.value[e] * x[matrix.column[e]];
    }
  }
  return sums;
}

}  // namespace ringside::testing
