// SPDX-License-Identifier: BSD-3-Clause
// The producer's view of a solver, which makes step k from step k-1, wherever the two lie. It does not depend on the
// hand-off; step k may lie in memory shared with the analyzer.
//
// A step is all that an iteration leaves for the next one: the variables, in one piece of memory (the payload), and the
// scalars. What else a solver keeps can be made from a step (`prepare`). So a run continues from any step, bit-equal.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/result_description.hpp"
#include "common/schema/schema.hpp"
#include "common/threads/team.hpp"

namespace ringside {

/// What an iteration changed, and what it reached.
struct Change {
  double l1 = 0;         // sum of |x_k[i] - x_{k-1}[i]|
  double linf = 0;       // their maximum; see largest_change
  double criterion = 0;  // what --tolerance bounds (SolverChoice::criterion): l1, or a better measure if there is one
  bool broken_down = false;  // there is no step k: see Solver::breakdown
};

/// The largest change of those that are no NaN, as reductions report it: NaN if that is 0 and others are NaN, whose sum is l1.
inline double largest_change(double linf, double l1) noexcept {
  return linf == 0 && std::isnan(l1) ? l1 : linf;
}

class Solver {
 public:
  virtual ~Solver() = default;

  /// Entries of x, also those of other processes' rows.
  virtual std::uint64_t rows() const noexcept = 0;
  virtual std::uint64_t nonzeros() const noexcept = 0;

  /// The storage format of the matrix, such as "packed" (docs/inside/kernels.md): decides the time, not the
  /// iterates.
  virtual std::string_view format() const noexcept = 0;

  /// Parameters that decide the iterates, such as "damping=0.85": part of problem_id.
  virtual std::string parameters() const = 0;

  /// From here on `team`, which outlives every later call, does the work; until then all OpenMP threads do. The
  /// iterates do not depend on it.
  virtual void share_among(Team& team) = 0;

  /// The variables of a step. The first one is the field x, f64[rows]: it lies at the beginning of a payload. With x
  /// alone a payload is rows doubles.
  virtual Schema variables() const { return Schema::x_only(rows()); }

  /// Of a process that has a part of the rows (producer/solver/neighbours.hpp), a payload begins with its part of x.
  /// offsets: where its parts of all variables lie from there, in bytes, in every payload from here on. Until then, and
  /// in a process that has all rows, they lie where `variables` has them.
  virtual void lie_at(std::span<const std::uint64_t> /*offsets*/) {}

  /// The scalars published with each step. The first two are the change: `Change::l1` and `linf`.
  virtual std::vector<Scalar> scalars() const { return {{.name = "residual_l1"}, {.name = "residual_linf"}}; }

  /// The words of the scalars after the first two, of the step made last. They stay where they are.
  virtual std::span<const std::uint64_t> further_scalars() const noexcept { return {}; }

  /// Writes step 0, the variables before the first iteration, to `payload`: payload_bytes of `variables`.
  virtual void start(void* payload) const noexcept = 0;

  /// Gives the solver the inner state (scaled ranks, dangling mass) that it has after it produced `payload`. Called
  /// once before the first `iterate`, with step 0 or with a kept step; the steps that follow are bit-equal either way.
  /// scalars: the words of all scalars of the kept step, in the order of `scalars`; none: it is step 0.
  virtual void prepare(const void* payload, std::span<const std::uint64_t> scalars) noexcept = 0;

  /// What `iterate` returned for the kept step with these scalars.
  virtual Change change_of(std::span<const std::uint64_t> scalars) const noexcept;

  /// The factor by which the L1 change of a converging iteration can exceed that of any earlier one; infinity if no
  /// limit is known.
  virtual double growth_limit() const noexcept = 0;

  /// A criterion of at most this is met whatever the tolerance, because later iterations would change nothing; below 0
  /// if there is no such criterion.
  virtual double exhausted_criterion() const noexcept { return -1; }

  /// One iteration. previous: the payload of step k-1, that of the last `prepare` or `iterate`, not changed; next:
  /// becomes the payload of step k. Bit-equal for any team.
  virtual Change iterate(const void* previous, void* next) noexcept = 0;

  /// After an iteration that broke down: what was found, and what the solver accepts; one line without a full stop.
  virtual std::string breakdown() const { return {}; }

  /// True if `next` may be `previous`: row i of the old variables is read only to make row i of the new ones, or before
  /// any of the new ones is written.
  virtual bool may_overwrite_previous() const noexcept = 0;
};

inline Change Solver::change_of(std::span<const std::uint64_t> scalars) const noexcept {
  const double l1 = std::bit_cast<double>(scalars[0]);
  return {.l1 = l1, .linf = std::bit_cast<double>(scalars[1]), .criterion = l1};
}

}  // namespace ringside
