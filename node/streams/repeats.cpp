// SPDX-License-Identifier: BSD-3-Clause
#include "node/streams/repeats.hpp"

#include <algorithm>
#include <cmath>

namespace ringside {

double percentile_of(std::vector<double> samples, double part) {
  std::sort(samples.begin(), samples.end());
  const double place = part * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (place - std::floor(place)) * (samples[above] - samples[below]);
}

double median_of(std::vector<double> samples) {
  return percentile_of(std::move(samples), 0.5);
}

Measured measured(const std::vector<double>& samples) {
  const double median = median_of(samples);
  const double half = (percentile_of(samples, 0.9) - percentile_of(samples, 0.1)) / 2;
  return {median, median == 0 ? 0 : half / median};
}

}  // namespace ringside
