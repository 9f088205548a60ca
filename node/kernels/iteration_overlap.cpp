// SPDX-License-Identifier: BSD-3-Clause
#include "node/kernels/iteration_overlap.hpp"

#include <algorithm>
#include <iterator>

#include "common/platform/clock.hpp"
#include "node/streams/repeats.hpp"

namespace ringside {
namespace {

double seconds_of(const WorkSpan& span) {
  return seconds(span.ended_ns - span.begun_ns);
}

}  // namespace

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

std::optional<double> median_beside(std::span<const WorkSpan> alone, std::span<const WorkSpan> beside,
                                    std::span<const WorkSpan> steps) {
  const std::vector<double> overlaps = overlaps_s(beside, steps);
  std::vector<double> met;
  std::copy_if(overlaps.begin(), overlaps.end(), std::back_inserter(met), [](double overlap) { return overlap > 0; });
  if (met.empty()) return std::nullopt;
  const double least_s = median_of(met) / 2;
  std::vector<double> took_s;
  std::vector<double> overlap_s;
  for (std::size_t i = 0; i < beside.size(); ++i) {
    if (overlaps[i] < least_s) continue;
    took_s.push_back(seconds_of(beside[i]));
    overlap_s.push_back(overlaps[i]);
  }
  std::vector<double> alone_s;
  for (const WorkSpan& span : alone) alone_s.push_back(seconds_of(span));
  return seconds_beside(median_of(alone_s), median_of(took_s), median_of(overlap_s));
}

}  // namespace ringside
