// SPDX-License-Identifier: BSD-3-Clause
// Statistics of repeated measurements: the median and the spread of a node's figures (node/model/node.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "node/model/node.hpp"

namespace ringside {

/// The value below which the share `part` (0 to 1) of the samples lies, by linear interpolation between two samples.
/// Samples: at least one, in any order.
inline double percentile_of(std::vector<double> samples, double part) {
  std::sort(samples.begin(), samples.end());
  const double place = part * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (place - std::floor(place)) * (samples[above] - samples[below]);
}

inline double median_of(std::vector<double> samples) {
  return percentile_of(std::move(samples), 0.5);
}

/// The median, and half the distance from the 10th to the 90th percentile divided by it (0 if the median is 0).
/// Samples: at least one, in any order.
inline Measured measured(const std::vector<double>& samples) {
  const double median = median_of(samples);
  const double half = (percentile_of(samples, 0.9) - percentile_of(samples, 0.1)) / 2;
  return {median, median == 0 ? 0 : half / median};
}

}  // namespace ringside
