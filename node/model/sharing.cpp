// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/sharing.hpp"

#include <algorithm>

namespace ringside {
namespace {

/// The rate of each thread of each group: groups that need less than an equal share of the remaining capacity are
/// served first.
std::vector<double> max_min(double capacity, std::span<const Demand> groups) {
  std::vector<double> given(groups.size(), 0);
  std::vector<bool> served(groups.size(), false);
  double left = capacity;
  while (true) {
    int threads = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) threads += served[i] ? 0 : groups[i].threads;
    if (threads == 0) return given;
    const double equal = std::max(left, 0.0) / threads;
    bool any = false;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (served[i] || groups[i].bytes_s > equal) continue;
      given[i] = groups[i].bytes_s;
      left -= groups[i].bytes_s * groups[i].threads;
      served[i] = any = true;
    }
    if (any) continue;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (!served[i]) given[i] = equal;
    }
    return given;
  }
}

}  // namespace

std::vector<double> shares(double capacity_bytes_s, std::span<const Demand> groups, Sharing sharing) {
  const std::vector<double> given = max_min(capacity_bytes_s, groups);
  int threads = 0;
  double all = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    threads += groups[i].threads;
    all += given[i] * groups[i].threads;
  }
  std::vector<double> result(groups.size(), capacity_bytes_s);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].threads == 0) continue;
    const double others = all - given[i] * groups[i].threads;
    result[i] = capacity_bytes_s / threads;
    if (sharing == Sharing::kMaxMin) result[i] = std::max(result[i], (capacity_bytes_s - others) / groups[i].threads);
  }
  return result;
}

}  // namespace ringside
