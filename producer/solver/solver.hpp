// SPDX-License-Identifier: BSD-3-Clause
// The producer's view of a solver, which makes step k from step k-1; both steps may be at any place in memory. A solver
// does not depend on the hand-off, but step k may be in memory that is shared with the analyzer.
//
// A step is all that an iteration leaves for the next one: the variables, in one piece of memory (the payload), and the
// scalars. The solver can make its other data from a step (`prepare`). So a run can continue from any step with equal
// bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/result_description.hpp"
#include "common/schema/schema.hpp"
#include "common/threads/team.hpp"

namespace ringside {

/// The change of an iteration, and its criterion.
struct Change {
  double l1 = 0;             // sum of |x_k[i] - x_{k-1}[i]|
  double linf = 0;           // their maximum; see largest_change
  double criterion = 0;      // bounded by --tolerance (SolverChoice::criterion): l1, or a better measure if one exists
  bool broken_down = false;  // no step k exists: see Solver::breakdown
};

/// The largest change, as reductions report it. linf ignores NaN. Therefore the result is NaN if linf is 0 and the sum
/// l1 is NaN.
inline double largest_change(double linf, double l1) noexcept {
  return linf == 0 && std::isnan(l1) ? l1 : linf;
}

class Solver {
 public:
  virtual ~Solver() = default;

  /// Entries of x, including other processes' rows.
  virtual std::uint64_t rows() const noexcept = 0;
  virtual std::uint64_t nonzeros() const noexcept = 0;

  /// The storage format of the matrix, such as "packed" (docs/inside/kernels.md). The format affects the time, but not
  /// the iterates.
  virtual std::string_view format() const noexcept = 0;

  /// Bytes that an iteration moves between memory and caches, if they do not depend on the matrix: every row is in a
  /// band, and the new vectors bypass the caches (docs/inside/kernels.md, "Bytes and instructions"). Otherwise empty.
  virtual std::optional<double> moved_bytes() const noexcept { return std::nullopt; }

  /// Parameters that affect the iterates, such as "damping=0.85". They are part of problem_id.
  virtual std::string parameters() const = 0;

  /// From now on `team`, which must outlive every later call, does the work; until then all OpenMP threads do it. The
  /// iterates do not depend on the team.
  virtual void share_among(Team& team) = 0;

  /// The variables of a step. The first one is the field x, f64[rows], at the beginning of a payload. If x is the only
  /// variable, a payload has rows doubles.
  virtual Schema variables() const { return Schema::x_only(rows()); }

  /// If a process has a part of the rows (producer/solver/neighbours.hpp), a payload begins with its part of x.
  /// offsets: where this process's parts of all variables are in every later payload, in bytes from the payload's
  /// beginning. Until this call, and in a process with all rows, the places are those of `variables`.
  virtual void lie_at(std::span<const std::uint64_t> /*offsets*/) {}

  /// The scalars published with each step. The first two are the change: `Change::l1` and `linf`.
  virtual std::vector<Scalar> scalars() const { return {{.name = "residual_l1"}, {.name = "residual_linf"}}; }

  /// The newest step's scalars after the first two, as words. The place of these words does not change.
  virtual std::span<const std::uint64_t> further_scalars() const noexcept { return {}; }

  /// Writes step 0, the variables before the first iteration, to `payload`: payload_bytes of `variables`.
  virtual void start(void* payload) const noexcept = 0;

  /// Restores the inner state (scaled ranks, dangling mass) that the solver has after producing `payload`. Called once
  /// before the first `iterate`, with step 0 or with a kept step. In both cases, the following steps have the same
  /// bits. scalars: the words of all scalars of the kept step, in the order of `scalars`; empty for step 0.
  virtual void prepare(const void* payload, std::span<const std::uint64_t> scalars) noexcept = 0;

  /// The return value of `iterate` for the kept step with these scalars.
  virtual Change change_of(std::span<const std::uint64_t> scalars) const noexcept;

  /// The factor by which the L1 change of a converging iteration can exceed the L1 change of any earlier iteration;
  /// infinity if no limit is known.
  virtual double growth_limit() const noexcept = 0;

  /// A criterion of at most this value counts as converged with any tolerance, because later iterations would change
  /// nothing. Below 0 if there is no such value.
  virtual double exhausted_criterion() const noexcept { return -1; }

  /// One iteration. previous: the payload of step k-1 from the last `prepare` or `iterate`, unchanged; next: becomes
  /// the payload of step k. Bit-equal for any team.
  virtual Change iterate(const void* previous, void* next) noexcept = 0;

  /// What the solver found in an iteration that broke down, and what it accepts; one line without a full stop.
  virtual std::string breakdown() const { return {}; }

  /// True if `next` may be `previous`: row i of the old variables is read only to make row i of the new variables, or
  /// before any new variable is written.
  virtual bool may_overwrite_previous() const noexcept = 0;
};

inline Change Solver::change_of(std::span<const std::uint64_t> scalars) const noexcept {
  const double l1 = std::bit_cast<double>(scalars[0]);
  return {.l1 = l1, .linf = std::bit_cast<double>(scalars[1]), .criterion = l1};
}

}  // namespace ringside
