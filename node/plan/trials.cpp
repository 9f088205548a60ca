// SPDX-License-Identifier: BSD-3-Clause
#include "node/plan/trials.hpp"

#include <algorithm>
#include <bit>

namespace ringside {
namespace {

bool was_tried(std::span<const PlanRow> tried, const Configuration& configuration) {
  return std::any_of(tried.begin(), tried.end(),
                     [&](const PlanRow& row) { return row.configuration == configuration; });
}

Configuration with_analyzer_threads(const Configuration& usual, int count) {
  Configuration other = usual;
  other.analyzer_threads = count;
  other.producer_threads = usual.producer_threads + usual.analyzer_threads - count;
  return other;
}

std::optional<Configuration> first_untried_split(const Configuration& usual, std::span<const PlanRow> tried) {
  for (int count = 1; count < usual.producer_threads + usual.analyzer_threads; ++count) {
    const Configuration split = with_analyzer_threads(usual, count);
    if (!was_tried(tried, split)) return split;
  }
  return std::nullopt;
}

/// The middle of the numbers of analyzer cores that the trials leave open. The process that waited less had too few
/// cores.
std::optional<Configuration> middle_split(const Configuration& usual, std::span<const PlanRow> tried) {
  int low = 1;
  int high = usual.producer_threads + usual.analyzer_threads - 1;
  for (const PlanRow& row : tried) {
    const int count = row.configuration.analyzer_threads;
    if (row.prediction.producer_idle_s > row.prediction.analyzer_idle_s) {
      low = std::max(low, count + 1);
    } else {
      high = std::min(high, count - 1);
    }
  }
  if (low > high) return std::nullopt;
  return with_analyzer_threads(usual, low + (high - low) / 2);
}

}  // namespace

std::optional<Configuration> next_trial(const TrialRequest& request, std::span<const PlanRow> tried) {
  if (tried.empty()) return request.usual;
  if (!request.is_split_fixed) {
    const bool all = request.usual.producer_threads + request.usual.analyzer_threads <= kCoresWithAllSplits;
    const auto split = all ? first_untried_split(request.usual, tried) : middle_split(request.usual, tried);
    if (split) return split;
  }
  if (request.is_reduce_fixed) return std::nullopt;
  Configuration other = tried[best_trial(tried)].configuration;
  other.reduce_on_transfer = !other.reduce_on_transfer;
  return was_tried(tried, other) ? std::nullopt : std::optional(other);
}

int most_trials(const TrialRequest& request) {
  const int splits = request.usual.producer_threads + request.usual.analyzer_threads - 1;
  int trials = 1;
  if (!request.is_split_fixed) {
    // A bisection halves the open splits with each trial, after the first trial, which may leave almost all of them
    // open.
    trials =
        splits < kCoresWithAllSplits ? splits : 1 + static_cast<int>(std::bit_width(static_cast<unsigned>(splits)));
  }
  return trials + (request.is_reduce_fixed ? 0 : 1);
}

std::size_t best_trial(std::span<const PlanRow> tried) {
  const auto least = std::min_element(tried.begin(), tried.end(), [](const PlanRow& a, const PlanRow& b) {
    return a.prediction.total_s < b.prediction.total_s;
  });
  const bool clearly = least->prediction.total_s < kClearlyFaster * tried.front().prediction.total_s;
  return clearly ? static_cast<std::size_t>(least - tried.begin()) : 0;
}

}  // namespace ringside
