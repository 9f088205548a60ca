// SPDX-License-Identifier: BSD-3-Clause
#include "node/kernels/iteration_overlap.hpp"

#include <algorithm>

#include "common/platform/clock.hpp"

namespace ringside {

std::vector<double> overlaps_s(std::span<const WorkSpan> iterations, std::span<const WorkSpan> steps) {
  std::vector<double> overlaps;
  overlaps.reserve(iterations.size());
  std::size_t first = 0;  // the first step that ends after the iteration began
  for (const WorkSpan& iteration : iterations) {
    while (first < steps.size() && steps[first].ended_ns <= iteration.begun_ns) ++first;
    std::int64_t common_ns = 0;
    for (std::size_t i = first; i < steps.size() && steps[i].begun_ns < iteration.ended_ns; ++i) {
      common_ns += std::min(steps[i].ended_ns, iteration.ended_ns) - std::max(steps[i].begun_ns, iteration.begun_ns);
    }
    overlaps.push_back(seconds(common_ns));
  }
  return overlaps;
}

double seconds_beside(double alone_s, double took_s, double overlap_s) noexcept {
  constexpr double kLeastLoss = -0.25;
  constexpr double kMostLoss = 0.95;
  return alone_s / (1 - std::clamp((took_s - alone_s) / overlap_s, kLeastLoss, kMostLoss));
}

}  // namespace ringside
