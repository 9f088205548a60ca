// SPDX-License-Identifier: BSD-3-Clause
// Decides from each iteration's criterion whether the iteration has converged, diverges or is still running, and
// estimates how long it may take. The criterion is the L1 change or, if a solver has one, a better measure
// (Change::criterion). Close to convergence or to divergence, the change of a linear iteration is multiplied by a
// constant factor in each iteration, which is the spectral radius of its matrix. Before that, the change of a
// non-normal matrix can grow by any factor: with a bidiagonal matrix, it grows for as many iterations as there are
// rows, and then the solution is exact. So growth alone does not prove divergence; growth above the solver's limit for
// a converging iteration does. Without a limit, the iteration runs until its values exceed the range of a double.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ringside {

enum class Progress { kRunning, kConverged, kDiverged };

class ConvergenceCheck {
 public:
  /// An iteration has diverged if its criterion is not finite. It has also diverged if its criterion is the largest so
  /// far, and if for at least kDivergedIterations in a row the criterion was more than kDivergedFactor times the
  /// smallest criterion, and more than twice as large as the growth of a converging iteration allows (the factor 2
  /// covers rounding).
  static constexpr double kDivergedFactor = 1e4;
  static constexpr int kDivergedIterations = 32;

  /// tolerance: the limit of the criterion. With 0 there is no limit, and the caller counts iterations; divergence is
  /// still detected. growth_limit: Solver::growth_limit; if infinite, only a criterion that is not finite counts as
  /// diverged. exhausted: Solver::exhausted_criterion.
  ConvergenceCheck(double tolerance, double growth_limit, double exhausted = -1) noexcept
      : tolerance_(tolerance), exhausted_(exhausted), diverged_factor_(std::max(kDivergedFactor, 2 * growth_limit)) {}

  /// Adds an iteration's criterion. The iteration has converged if the criterion is at most the tolerance, or is
  /// exhausted. For divergence, see above.
  Progress observe(double criterion) noexcept;

  /// The factor of the criterion per iteration, over at most the last 32 iterations: an estimate of the spectral radius
  /// of the iteration's matrix. Empty before the second iteration, or if an iteration changed nothing.
  std::optional<double> growth_per_iteration() const noexcept;

  /// The number of further iterations until the criterion meets the tolerance, if it keeps shrinking at the present
  /// rate. Empty if the tolerance is 0 or the criterion is not shrinking.
  std::optional<std::uint64_t> iterations_left() const noexcept;

 private:
  static constexpr std::size_t kWindow = 33;  // 32 intervals have 33 ends

  double recent(std::size_t back) const noexcept { return recent_[(observed_ - 1 - back) % kWindow]; }

  double tolerance_;
  double exhausted_;
  double diverged_factor_;
  double smallest_ = 0;  // the smallest criterion so far
  double largest_ = 0;
  int grown_for_ = 0;         // the number of iterations in a row with a growth above diverged_factor_
  std::size_t observed_ = 0;  // the number of finite criteria
  std::array<double, kWindow> recent_{};
};

}  // namespace ringside
