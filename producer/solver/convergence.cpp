// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/convergence.hpp"

#include <cmath>

namespace ringside {

Progress ConvergenceCheck::observe(double criterion) noexcept {
  if (!std::isfinite(criterion)) return Progress::kDiverged;
  const bool largest = criterion > largest_;
  largest_ = std::max(largest_, criterion);
  smallest_ = observed_ == 0 ? criterion : std::min(smallest_, criterion);
  recent_[observed_ % kWindow] = criterion;
  ++observed_;
  if (tolerance_ > 0 && criterion <= tolerance_) return Progress::kConverged;
  if (criterion <= exhausted_) return Progress::kConverged;

  // After a criterion of zero, any later criterion is infinitely larger; this proves no growth.
  const bool grown = smallest_ > 0 && criterion / diverged_factor_ > smallest_;
  grown_for_ = grown ? grown_for_ + 1 : 0;
  return largest && grown_for_ >= kDivergedIterations ? Progress::kDiverged : Progress::kRunning;
}

std::optional<double> ConvergenceCheck::growth_per_iteration() const noexcept {
  if (observed_ < 2) return std::nullopt;
  const std::size_t steps = std::min(observed_, kWindow) - 1;
  const double last = recent(0);
  const double first = recent(steps);
  if (!(last > 0 && first > 0)) return std::nullopt;
  return std::exp((std::log(last) - std::log(first)) / static_cast<double>(steps));
}

std::optional<std::uint64_t> ConvergenceCheck::iterations_left() const noexcept {
  const std::optional<double> growth = growth_per_iteration();
  if (!growth || !(*growth < 1) || !(tolerance_ > 0)) return std::nullopt;
  if (recent(0) <= tolerance_) return 0;
  const double left = std::ceil((std::log(tolerance_) - std::log(recent(0))) / std::log(*growth));
  constexpr double kLongestEstimate = 1e15;  // no estimate is given above this; it is far below the integer's limit
  if (!(left < kLongestEstimate)) return std::nullopt;
  return static_cast<std::uint64_t>(left);
}

}  // namespace ringside
