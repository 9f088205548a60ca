// SPDX-License-Identifier: BSD-3-Clause
#include "node/workloads/speed_drops.hpp"

#include <algorithm>
#include <limits>

#include "node/streams/repeats.hpp"

namespace ringside {
namespace {

ThreadDrops drops_of_thread(const ThreadRates& thread, std::size_t begin, std::size_t end, double limit) {
  ThreadDrops found;
  if (begin >= end) return found;
  const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
  found.level_gb_s = median_of({thread.gb_s.begin() + at(begin), thread.gb_s.begin() + at(end)});
  for (std::size_t i = begin; i < end; ++i) {
    const double part = thread.gb_s[i] / found.level_gb_s;
    found.least = std::min(found.least, part);
    if (part >= limit) continue;
    if (found.drops.empty() || found.drops.back().first + found.drops.back().repeats != i) {
      found.drops.push_back({i, 0, thread.end_s[i] - thread.seconds[i], 0, 1, false});
    }
    SpeedDrop& drop = found.drops.back();
    ++drop.repeats;
    drop.end_s = thread.end_s[i];
    drop.depth = std::min(drop.depth, part);
  }
  return found;
}

bool overlap(const SpeedDrop& a, const SpeedDrop& b) noexcept {
  return a.begin_s < b.end_s && b.begin_s < a.end_s;
}

}  // namespace

std::vector<ThreadDrops> find_speed_drops(const std::vector<ThreadRates>& threads, std::size_t warm_up, double limit) {
  double first_end_s = std::numeric_limits<double>::infinity();
  for (const ThreadRates& thread : threads) {
    if (!thread.end_s.empty()) first_end_s = std::min(first_end_s, thread.end_s.back());
  }
  std::vector<ThreadDrops> found;
  for (const ThreadRates& thread : threads) {
    std::size_t end = 0;
    while (end < thread.end_s.size() && thread.end_s[end] <= first_end_s) ++end;
    found.push_back(drops_of_thread(thread, warm_up, end, limit));
  }
  for (std::size_t t = 0; t < found.size(); ++t) {
    for (SpeedDrop& drop : found[t].drops) {
      for (std::size_t other = 0; other < found.size(); ++other) {
        if (other == t) continue;
        drop.coincides = drop.coincides || std::any_of(found[other].drops.begin(), found[other].drops.end(),
                                                       [&](const SpeedDrop& its) { return overlap(drop, its); });
      }
    }
  }
  return found;
}

}  // namespace ringside
