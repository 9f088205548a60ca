// SPDX-License-Identifier: BSD-3-Clause
// The producer's view of a solver, which makes x_k from x_{k-1}, wherever the two vectors lie. It does not depend on
// the hand-off; x_k may lie in memory shared with the analyzer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/threads/team.hpp"

namespace ringside {

/// The change from x_{k-1} to x_k: sum and maximum of |x_k[i] - x_{k-1}[i]|.
struct Change {
  double l1 = 0;
  double linf = 0;
};

class Solver {
 public:
  virtual ~Solver() = default;

  virtual std::uint64_t rows() const noexcept = 0;
  virtual std::uint64_t nonzeros() const noexcept = 0;

  /// The storage format of the matrix, such as "packed" (docs/kernels.md): decides the time, not the
  /// iterates.
  virtual std::string_view format() const noexcept = 0;

  /// Parameters that decide the iterates, such as "damping=0.85": part of problem_id.
  virtual std::string parameters() const = 0;

  /// From here on `team`, which outlives every later call, does the work; until then all OpenMP threads do. The
  /// iterates do not depend on it.
  virtual void share_among(Team& team) = 0;

  /// Writes the iteration's starting vector x_0 to `x`: rows doubles.
  virtual void start(double* x) const noexcept = 0;

  /// Gives the solver the inner state (scaled ranks, dangling mass) that it has after it produced `x`: rows doubles.
  /// Called once before the first `iterate`, with x_0 or with a kept iterate; the iterates that follow are bit-equal
  /// either way.
  virtual void prepare(const double* x) noexcept = 0;

  /// The factor by which the L1 change of a converging iteration can exceed that of any earlier one; infinity if no
  /// limit is known.
  virtual double growth_limit() const noexcept = 0;

  /// One iteration. previous: x_{k-1}, the vector of the last `prepare` or `iterate`, rows doubles, not changed; next:
  /// becomes x_k, rows doubles. Bit-equal for any team.
  virtual Change iterate(const double* previous, double* next) noexcept = 0;

  /// True if `next` may be `previous`: row i of the old vector is read only to make row i of the new one.
  virtual bool may_overwrite_previous() const noexcept = 0;
};

}  // namespace ringside
