// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/answer.hpp"

#include <algorithm>

namespace ringside::probe {

std::uint64_t Votes::winner() const {
  std::uint64_t best = 0;
  std::ptrdiff_t most = 0;
  for (const std::uint64_t verdict : verdicts_) {
    const std::ptrdiff_t count = std::count(verdicts_.begin(), verdicts_.end(), verdict);
    if (count > most) best = verdict, most = count;
  }
  return best;
}

std::size_t Votes::agreeing() const {
  return static_cast<std::size_t>(std::count(verdicts_.begin(), verdicts_.end(), winner()));
}

double Votes::confidence() const {
  return static_cast<double>(agreeing() + 1) / static_cast<double>(trials() + 2);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace ringside::probe
