// SPDX-License-Identifier: BSD-3-Clause
// The reductions, written in the simplest way: one row after another, sums in long double, the histogram by comparisons
// with the bounds of its bins, the largest entries by sorting all entries. common/reductions/reduction must agree with
// these reductions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "common/reductions/reduction.hpp"

namespace ringside::reference {

/// The bin of a magnitude, found by comparing it with the lower bounds of the bins, from the highest bin down (see
/// Reductions::histogram).
inline std::size_t histogram_bin(double x) {
  const double magnitude = std::fabs(x);
  if (std::isnan(magnitude)) return kHistogramBins - 1;
  for (std::size_t bin = kHistogramBins - 1; bin > 0; --bin) {
    const int octave = static_cast<int>(bin / 4) - 60;
    const double lower = std::ldexp(1.0 + 0.25 * static_cast<double>(bin % 4), octave);
    if (magnitude >= lower) return bin;
  }
  return 0;
}

/// x: the values. changes: their changes, as many as x has values; empty if there is no previous iterate.
inline Reductions serial_reductions_of(const std::vector<double>& x, const std::vector<double>& changes) {
  Reductions result;
  result.rows = x.size();
  long double sum = 0, l1 = 0, squares = 0, change_l1 = 0, change_squares = 0;
  result.min = std::numeric_limits<double>::infinity();
  result.max = -std::numeric_limits<double>::infinity();
  std::vector<TopEntry> entries;
  for (std::size_t row = 0; row < x.size(); ++row) {
    sum += x[row];
    l1 += std::fabs(x[row]);
    squares += static_cast<long double>(x[row]) * x[row];
    ++result.histogram[histogram_bin(x[row])];
    if (!std::isfinite(x[row])) ++result.non_finite;
    if (!std::isnan(x[row])) {
      result.min = std::min(result.min, x[row]);
      result.max = std::max(result.max, x[row]);
      entries.push_back({row, x[row]});
    }
    if (!changes.empty()) {
      const double change = changes[row];
      change_l1 += std::fabs(change);
      change_squares += static_cast<long double>(change) * change;
      if (std::fabs(change) > result.change_linf) result.change_linf = std::fabs(change);
    }
  }
  result.sum = static_cast<double>(sum);
  result.mean = static_cast<double>(sum / static_cast<long double>(x.size()));
  result.l1 = static_cast<double>(l1);
  result.l2 = static_cast<double>(std::sqrt(squares));
  result.linf = std::max(std::fabs(result.min), std::fabs(result.max));
  if (result.change_linf == 0 && std::isnan(result.change_l1)) result.change_linf = result.change_l1;
  result.has_change = changes.empty() ? 0 : 1;
  result.change_l1 = static_cast<double>(change_l1);
  result.change_l2 = static_cast<double>(std::sqrt(change_squares));

  std::sort(entries.begin(), entries.end(), [](const TopEntry& a, const TopEntry& b) {
    return a.value > b.value || (a.value == b.value && a.row < b.row);
  });
  result.top_count = std::min(entries.size(), kTopEntries);
  std::copy_n(entries.begin(), result.top_count, result.top);
  return result;
}

/// x: the iterate. previous: the previous iterate, with as many values as x; empty if there is none.
inline Reductions serial_reductions(const std::vector<double>& x, const std::vector<double>& previous) {
  std::vector<double> changes(previous.size());
  for (std::size_t row = 0; row < changes.size(); ++row) changes[row] = x[row] - previous[row];
  return serial_reductions_of(x, changes);
}

}  // namespace ringside::reference
