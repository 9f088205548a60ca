// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/coupling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ringside {
namespace {

Together by_formula(const NodeModel& model, const PairFigures& pair) {
  return together(kernel_time(model, pair.first, pair.first_threads),
                  kernel_time(model, pair.second, pair.second_threads), model.capacity_bytes_s, model.exponent,
                  model.sharing);
}

/// The mean of the relative errors of both times of a pair.
double pair_misfit(const NodeModel& model, const PairFigures& pair) {
  const Together predicted = by_formula(model, pair);
  return (std::abs(predicted.first_s / pair.first_s.value - 1) +
          std::abs(predicted.second_s / pair.second_s.value - 1)) /
         2;
}

/// The split with the smallest difference between the two thread counts, because in such a split both sides matter.
std::pair<int, int> fitting_split(const std::vector<PairFigures>& pairs) {
  const auto even = std::min_element(pairs.begin(), pairs.end(), [](const PairFigures& a, const PairFigures& b) {
    return std::abs(a.first_threads - a.second_threads) < std::abs(b.first_threads - b.second_threads);
  });
  return {even->first_threads, even->second_threads};
}

}  // namespace

void fit_coupling(NodeModel& model) {
  if (model.pairs.empty()) return;
  const auto [first_threads, second_threads] = fitting_split(model.pairs);
  std::vector<const PairFigures*> fitting;
  std::vector<const PairFigures*> testing;
  for (const PairFigures& pair : model.pairs) {
    const bool fits = pair.first_threads == first_threads && pair.second_threads == second_threads;
    (fits ? fitting : testing).push_back(&pair);
  }
  const auto error = [&](const std::vector<const PairFigures*>& pairs) {
    double sum = 0;
    for (const PairFigures* pair : pairs) sum += pair_misfit(model, *pair);
    return sum / static_cast<double>(pairs.size());
  };

  // Coordinate descent over a factor for each kernel's bytes, with step sizes that halve.
  constexpr int kRounds = 40;
  double least = error(fitting);
  double step = 2;
  for (int round = 0; round < kRounds; ++round) {
    bool better = false;
    for (auto& kernel : model.kernels) {
      if (!kernel) continue;
      for (const double factor : {step, 1 / step}) {
        const std::vector<double> before = kernel->bytes;
        for (std::size_t g = 0; g < kernel->bytes.size(); ++g) {
          double& bytes = kernel->bytes[g];
          bytes = std::min(bytes * factor, model.capacity_bytes_s[g] * least_seconds(kernel->seconds));
        }
        const double now = error(fitting);
        if (now < least - 1e-9) {
          least = now;
          better = true;
          break;
        }
        kernel->bytes = before;
      }
    }
    if (!better) step = std::sqrt(step);
  }
  if (!testing.empty()) model.coupling_error = error(testing);
}

}  // namespace ringside
