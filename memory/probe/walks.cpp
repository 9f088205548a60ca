// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/walks.hpp"

#include <algorithm>

#include "memory/probe/answer.hpp"

namespace ringside::probe {

std::vector<Address> Walks::lines_at(Address first, std::uint64_t stride, std::uint64_t count) {
  std::vector<Address> lines(count);
  for (std::uint64_t i = 0; i < count; ++i) lines[i] = first + i * stride;
  std::shuffle(lines.begin(), lines.end(), random_);
  return lines;
}

double Walks::settled_cost(const std::vector<Address>& lines, Access access) {
  memory_.lay(lines);
  // Repeats until the last half of the laps is no faster than the quarter before that half, because some policies admit
  // new lines slowly.
  const std::size_t least = lines.size() < 4096 ? 32 : 8;
  // On real memory, a chain settles within a few laps, or noise hides whether it does.
  const bool real = memory_.resolution_ns() > 0;
  const std::size_t longest = real ? least : 512;
  const std::size_t most = std::clamp<std::size_t>(4000000 / lines.size(), least, longest);
  std::vector<double> before;
  while (before.size() < most) {
    before.push_back(memory_.lap(access));
    const auto laps = static_cast<std::ptrdiff_t>(before.size());
    if (before.size() < least || laps % 8 != 0) continue;
    const double last = median({before.begin() + laps / 2, before.end()});
    if (last > 0.98 * median({before.begin() + laps / 4, before.begin() + laps / 2})) break;
  }
  std::vector<double> laps;
  for (int lap = 0; lap < (real && lines.size() > 32768 ? 3 : 9); ++lap) laps.push_back(memory_.lap(access));
  if (!memory_.pages_lie_anywhere()) return median(laps);
  // Other programs can only add misses, and lines that do not fit miss in every lap. So the faster laps are used.
  std::sort(laps.begin(), laps.end());
  return laps[laps.size() / 4];
}

double Walks::cost_past(const std::vector<Address>& lines, double faster_ns) {
  const std::size_t laps = std::clamp<std::size_t>(2000000 / lines.size(), 4, 64);
  double spent_ns = 0;
  for (std::size_t lap = 0; lap < laps && (lap < 4 || spent_ns < memory_.patience_ns()); ++lap) {
    for (const Address line : lines) spent_ns += memory_.touch(line, Access::kRead);
  }
  std::vector<double> slow;
  for (const Address line : lines) {
    const double cost = memory_.touch(line, Access::kRead);
    if (cost > faster_ns) slow.push_back(cost);
  }
  return slow.size() * 20 < lines.size() ? 0 : median(slow);
}

bool Walks::fit(const std::vector<Address>& lines, const LevelCosts& costs, const Company& company) {
  return single_touches_tell(costs) ? fit_by_touches(lines, costs, company) : fit_by_laps(lines, costs);
}

/// A scan-resistant policy admits new lines slowly. Therefore a short walk may take up to 512 laps to settle. A long
/// walk ends earlier, if the last half of its laps had no fewer misses than the quarter before that half.
bool Walks::fit_by_touches(const std::vector<Address>& lines, const LevelCosts& costs, const Company& company) {
  const std::size_t most_laps = 512;
  const std::size_t least_laps = std::clamp<std::size_t>(100000 / lines.size(), 16, 400);
  std::vector<std::size_t> misses;
  std::size_t quiet = 0;
  double spent_ns = 0;
  for (std::size_t lap = 0; lap < most_laps; ++lap) {
    std::size_t missed = 0;
    const auto ask = [&](Address line) {
      const double cost = memory_.touch(line, Access::kRead);
      if (cost > costs.limit_ns() && cost < costs.disturbed_ns) ++missed;
      spent_ns += cost;
    };
    for (const Address line : lines) {
      for (const Address other : company.before) memory_.touch(other, Access::kRead);
      ask(line);
      if (company.neighbour != 0) ask(line + company.neighbour);
    }
    misses.push_back(missed);
    // In a lap of many lines, noise may raise one or two costs above the limit.
    quiet = missed <= lines.size() / 2000 ? quiet + 1 : 0;
    if (quiet == 3) return true;
    const std::size_t laps = misses.size();
    if (laps >= 16 && spent_ns > memory_.patience_ns()) return false;
    if (laps < least_laps || laps % 8 != 0) continue;
    const auto sum = [&misses](std::size_t from, std::size_t to) {
      std::size_t all = 0;
      for (std::size_t i = from; i < to; ++i) all += misses[i];
      return static_cast<double>(all) / static_cast<double>(to - from);
    };
    if (sum(laps / 2, laps) > 0.98 * sum(laps / 4, laps / 2)) return false;
  }
  return false;
}

bool Walks::fit_by_laps(const std::vector<Address>& lines, const LevelCosts& costs) {
  const double share = (settled_cost(lines) - costs.hit_ns) / (costs.past_ns - costs.hit_ns);
  return share < 0.08;
}

}  // namespace ringside::probe
