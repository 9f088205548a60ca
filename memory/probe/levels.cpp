// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "memory/probe/cache_spec.hpp"
#include "memory/probe/probes.hpp"

namespace ringside::probe {
namespace {

/// For each distance x: the costs of the second access of pairs in untouched memory, which access first base + x, then
/// base. The order is descending, because a next-line prefetcher would make an ascending pair fast.
using PairCosts = std::map<std::uint64_t, std::vector<double>>;

/// The distance between two trials of pairs.
std::uint64_t place_of(const TimedMemory& memory) {
  return 4 * memory.longest_line();
}

PairCosts time_pairs(Walks& walks, int trials) {
  TimedMemory& memory = walks.memory();
  std::vector<std::uint64_t> distances{0};
  for (std::uint64_t x = 16; x <= memory.longest_line(); x *= 2) distances.push_back(x);
  std::vector<std::uint64_t> order;
  for (int trial = 0; trial < trials; ++trial) order.insert(order.end(), distances.begin(), distances.end());
  std::shuffle(order.begin(), order.end(), walks.random());
  const std::uint64_t place = place_of(memory);
  const std::size_t at_once = std::min(order.size(), memory.most_bytes() / place);
  PairCosts costs;
  for (std::size_t begin = 0; begin < order.size(); begin += at_once) {
    const std::size_t count = std::min(at_once, order.size() - begin);
    const std::vector<Address> bases = walks.lines_at(memory.fresh(count * place), place, count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t distance = order[begin + i];
      memory.touch(bases[i] + distance, Access::kRead);
      costs[distance].push_back(memory.touch(bases[i], Access::kRead));
    }
  }
  return costs;
}

/// The cost of an access to untouched memory, measured as the first access of a pair.
double cost_of_fresh(Walks& walks) {
  const std::uint64_t place = place_of(walks.memory());
  const std::uint64_t count = std::min<std::uint64_t>(64, walks.memory().most_bytes() / place);
  const Address first = walks.memory().fresh(count * place);
  std::vector<double> costs;
  for (const Address line : walks.lines_at(first, place, count)) {
    costs.push_back(walks.memory().touch(line, Access::kRead));
  }
  return median(costs);
}

Answer line_answer(const PairCosts& pairs, double limit_ns, int level) {
  Answer answer{"line", level, kUndetermined, 0, 0, {}};
  const auto fast_share = [&](std::uint64_t x) {
    const std::vector<double>& costs = pairs.at(x);
    return static_cast<double>(std::count_if(costs.begin(), costs.end(), [&](double c) { return c < limit_ns; })) /
           static_cast<double>(costs.size());
  };
  const std::uint64_t farthest = pairs.rbegin()->first;
  if (fast_share(0) < 0.8 || fast_share(farthest) > 0.2) {
    answer.evidence = fmt::format(
        "controls failed: a second access to an address is fast in {:.0f} %, and an access {} away is fast in {:.0f} %",
        100 * fast_share(0), size_text(farthest), 100 * fast_share(farthest));
    return answer;
  }
  std::uint64_t line = 16;
  while (line < farthest && fast_share(line) > 0.5) line *= 2;
  std::size_t agreeing = 0;
  std::size_t trials = 0;
  for (const std::uint64_t x : {line / 2, line}) {
    for (const double cost : pairs.at(x < 16 ? 0 : x)) ++trials, agreeing += (cost < limit_ns) == (x < line) ? 1U : 0U;
  }
  answer.confidence = static_cast<double>(agreeing + 1) / static_cast<double>(trials + 2);
  answer.evidence = fmt::format("accesses {} apart are fast in {:.0f} %, and accesses {} apart are fast in {:.0f} %",
                                size_text(line / 2), 100 * fast_share(line / 2 < 16 ? 0 : line / 2), size_text(line),
                                100 * fast_share(line));
  if (answer.confidence < kLeastConfidence) return answer;
  answer.answer = size_text(line);
  answer.value = line;
  return answer;
}

/// The stride of a walk for the level with hit cost `hit_ns`: the shortest distance at which the second access of a
/// pair is slower than a hit. A longer stride would use few sets of a level with short lines; a shorter stride would
/// touch a line of this level twice. The result is `largest` if touches cannot distinguish the levels.
std::uint64_t step_for(Walks& walks, const PairCosts& pairs, double hit_ns, std::uint64_t largest) {
  if (walks.memory().resolution_ns() > 0) return largest;
  for (const auto& [distance, costs] : pairs) {
    if (distance != 0 && median(costs) > 1.4 * hit_ns) return std::min(distance, largest);
  }
  return largest;
}

/// The bytes of the largest walk that fits, with a precision of a line or 1/48. It is between `least` and `most`, or
/// above. 0: `least` does not fit.
std::uint64_t largest_fit(Walks& walks, const LevelCosts& costs, std::uint64_t line, std::uint64_t least,
                          std::uint64_t most) {
  const auto fits = [&](std::uint64_t bytes) {
    return walks.fit(walks.lines_at(walks.memory().fresh(bytes), line, bytes / line), costs);
  };
  // The bounds come from the coarse search, which a few disturbed laps can mislead, so both are tested.
  least = std::max(line, least / line * line);
  most = std::max(2 * line, most / line * line);
  if (!fits(least)) return 0;
  while (fits(most)) {
    least = most;
    if (most > walks.memory().most_bytes() / 4) break;
    most *= 2;
  }
  while (most - least > std::max(line, least / 48)) {
    const std::uint64_t middle = (least + (most - least) / 2) / line * line;
    if (middle == least) break;
    (fits(middle) ? least : most) = middle;
  }
  return least;
}

/// The share of accesses that miss the level in a walk of 1.3 times its size. On real memory with arbitrary pages this
/// share is small, because some sets are full long before the whole level is. On other memories the share is 1.
double share_beyond(Walks& walks, const Level& level) {
  if (!walks.memory().pages_lie_anywhere()) return 1;
  const std::uint64_t lines = level.size_bytes * 13 / 10 / level.line_bytes;
  const double cost_ns =
      walks.settled_cost(walks.lines_at(walks.memory().fresh(lines * level.line_bytes), level.line_bytes, lines));
  return (cost_ns - level.costs.hit_ns) / (level.costs.past_ns - level.costs.hit_ns);
}

void answer_size(Walks& walks, Level& level, int number, std::uint64_t coarse) {
  Answer& answer = level.size;
  answer = {"size", number, kUndetermined, 0, 0, {}};
  std::vector<std::uint64_t> sizes;
  std::uint64_t middle = 0;
  std::size_t agreeing = 0;
  // On real memory, more trials would take too much time, and what disturbed the first trials would also disturb
  // further trials.
  const std::size_t most = walks.memory().resolution_ns() > 0 ? 7 : 13;
  while (sizes.size() < 5 || (sizes.size() < most && (agreeing + 1) * 5 < (sizes.size() + 2) * 4)) {
    sizes.push_back(largest_fit(walks, level.costs, level.line_bytes, coarse / 4, coarse * 5 / 4));
    std::sort(sizes.begin(), sizes.end());
    middle = sizes[sizes.size() / 2];
    agreeing = static_cast<std::size_t>(std::count_if(sizes.begin(), sizes.end(), [&](std::uint64_t size) {
      return size * 20 >= middle * 19 && size * 20 <= middle * 21;
    }));
  }
  level.size_bytes = middle;
  level.above_bytes = middle + std::max(level.line_bytes, middle / 48);
  answer.confidence = static_cast<double>(agreeing + 1) / static_cast<double>(sizes.size() + 2);
  answer.value = middle;
  answer.evidence = fmt::format(
      "{} of {} searches agree within 5 %: {} to {} fit; a hit takes {:.1f} ns, a miss takes {:.1f} ns", agreeing,
      sizes.size(), size_text(sizes.front()), size_text(sizes.back()), level.costs.hit_ns, level.costs.past_ns);
  if (middle == 0) {
    answer.evidence = fmt::format("even a walk over {} does not fit, although {} was the first size with a slower walk",
                                  size_text(coarse / 4), size_text(coarse));
  } else if (const double share = share_beyond(walks, level); share < 0.4) {
    answer.evidence += fmt::format(
        "; but only {:.0f} % of the accesses in a walk 1.3 times as long miss this level: scattered pages collide "
        "before the level is full",
        100 * share);
  } else if (answer.confidence >= kLeastConfidence) {
    answer.answer = size_text(middle);
  }
}

/// The first power of two of bytes whose walk costs clearly more than a hit of this level; 0 if there is none.
std::uint64_t first_slower(Walks& walks, double hit_ns, std::uint64_t from, std::uint64_t line) {
  for (std::uint64_t bytes = from; bytes <= walks.memory().most_bytes() / 2 && bytes / line <= (1 << 23); bytes *= 2) {
    if (walks.settled_cost(walks.lines_at(walks.memory().fresh(bytes), line, bytes / line)) > 1.25 * hit_ns) {
      return bytes;
    }
  }
  return 0;
}

}  // namespace

Levels find_levels(Walks& walks) {
  Levels found;
  found.memory_ns = cost_of_fresh(walks);
  const PairCosts pairs = time_pairs(walks, walks.memory().longest_line() > 16384 ? 16 : 40);
  const double again_ns = median(pairs.at(0));
  if (found.memory_ns < 1.5 * again_ns + walks.memory().resolution_ns()) {
    found.remark = fmt::format(
        "controls failed: an access to untouched memory takes {:.1f} ns, and a second access takes {:.1f} ns; hits and "
        "misses cannot be distinguished",
        found.memory_ns, again_ns);
    return found;
  }
  const double miss_limit_ns = (median(pairs.rbegin()->second) + again_ns) / 2;
  const Answer largest = line_answer(pairs, std::max(miss_limit_ns, found.memory_ns * 0.6), 1);
  const std::uint64_t longest = largest.value != 0 ? largest.value : 64;

  std::uint64_t step = step_for(walks, pairs, again_ns, longest);
  double hit_ns = walks.settled_cost(walks.lines_at(walks.memory().fresh(step * 4), step, 2));
  std::uint64_t from = 0;
  for (int number = 1; number <= walks.memory().most_levels(); ++number) {
    step = step_for(walks, pairs, hit_ns, longest);
    from = std::max(from, step * 4);
    const std::uint64_t coarse = first_slower(walks, hit_ns, from, step);
    if (coarse == 0) {
      if (found.levels.empty()) found.remark = "no walk was slower than the shortest one";
      break;
    }
    Level level;
    level.costs.hit_ns = hit_ns;
    level.costs.disturbed_ns = 3 * found.memory_ns;
    const std::vector<Address> beyond =
        walks.lines_at(walks.memory().fresh(coarse * 5 / 2), step, coarse * 5 / 2 / step);
    level.costs.past_ns = walks.settled_cost(beyond);
    if (walks.single_touches_tell({hit_ns, level.costs.past_ns})) {
      const double slow_ns = walks.cost_past(beyond, 1.4 * hit_ns);
      if (slow_ns == 0 && coarse < walks.memory().most_bytes() / 8) {  // the walk was slower only until it settled
        from = coarse * 2;
        --number;
        continue;
      }
      if (slow_ns > 0) level.costs.past_ns = slow_ns;
    }
    const bool last = level.costs.past_ns > 0.7 * found.memory_ns;
    level.line =
        line_answer(pairs, walks.memory().resolution_ns() > 0 ? miss_limit_ns : level.costs.limit_ns(), number);
    level.line_bytes = level.line.value != 0 ? level.line.value : step;
    answer_size(walks, level, number, coarse);
    found.levels.push_back(level);
    if (last) break;
    hit_ns = level.costs.past_ns;
    from = std::bit_ceil(std::max(coarse, level.above_bytes)) * 2;
  }
  return found;
}

}  // namespace ringside::probe
