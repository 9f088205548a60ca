// SPDX-License-Identifier: BSD-3-Clause
// The probe of the replacement policy touches ways + 1 lines of one set in random order, and computes how probable the
// observations are under each policy. A stochastic policy is simulated by many copies of its set; copies with a wrong
// prediction are dropped.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "memory/probe/probes.hpp"
#include "memory/probe/replacement.hpp"

namespace ringside::probe {
namespace {

constexpr double kWrongCost = 0.02;  // the probability that a cost is attributed to the wrong level

struct Seen {
  std::size_t line;
  bool hit;
};
using Sequence = std::vector<Seen>;

CacheSet full_of_others(std::uint32_t ways, Replacement policy, std::mt19937_64& random) {
  CacheSet set(ways, policy);
  for (std::uint64_t other = 0; other < ways; ++other) set.insert(1000000 + other, false, random);
  return set;
}

bool play(CacheSet& set, std::size_t line, std::mt19937_64& random) {
  if (set.use(line, false)) return true;
  set.insert(line, false, random);
  return false;
}

double log_likelihood(const std::vector<Sequence>& sequences, std::uint32_t ways, Replacement policy,
                      std::mt19937_64& random) {
  const bool draws_lots = policy == Replacement::kRandom || policy == Replacement::kAdaptive;
  double sum = 0;
  for (const Sequence& sequence : sequences) {
    std::vector<CacheSet> sets(draws_lots ? 100 : 1, full_of_others(ways, policy, random));
    for (const Seen& seen : sequence) {
      std::vector<std::size_t> right, wrong;
      for (std::size_t i = 0; i < sets.size(); ++i)
        (play(sets[i], seen.line, random) == seen.hit ? right : wrong).push_back(i);
      const double share = static_cast<double>(right.size()) / static_cast<double>(sets.size());
      sum += std::log(share * (1 - kWrongCost) + (1 - share) * kWrongCost);
      if (right.empty()) continue;
      for (const std::size_t i : wrong) sets[i] = sets[right[random() % right.size()]];
    }
  }
  return sum;
}

std::vector<Sequence> imagined(const std::vector<Sequence>& like, std::uint32_t ways, Replacement policy,
                               std::mt19937_64& random) {
  std::vector<Sequence> sequences = like;
  for (Sequence& sequence : sequences) {
    CacheSet set = full_of_others(ways, policy, random);
    for (Seen& seen : sequence) seen.hit = play(set, seen.line, random);
  }
  return sequences;
}

}  // namespace

Answer probe_replacement(Walks& walks, const std::vector<Level>& levels, int number,
                         const std::vector<Address>& conflict) {
  const Level& level = levels[static_cast<std::size_t>(number - 1)];
  Answer answer{"replacement", number, kUndetermined, 0, 0, {}};
  if (level.ways == 1) {
    answer.answer = "none";
    answer.confidence = 0.9;
    answer.evidence = "the level is direct-mapped, so there is no choice";
    return answer;
  }
  if (level.ways == 0 || level.ways > 64 || !walks.single_touches_tell(level.costs)) {
    answer.evidence = level.ways == 0   ? "this probe needs the level's number of ways"
                      : level.ways > 64 ? "the level has more than 64 ways, which this probe does not test"
                                        : "single accesses do not distinguish a hit from a miss";
    return answer;
  }
  TimedMemory& memory = walks.memory();
  const std::uint64_t region = std::bit_ceil(*std::max_element(conflict.begin(), conflict.end()) + level.line_bytes);
  const double nearer_ns =
      number > 1 ? (levels[static_cast<std::size_t>(number - 2)].costs.hit_ns + level.costs.hit_ns) / 2 : 0;
  std::vector<Sequence> sequences(8);
  std::size_t accesses = 0;
  for (Sequence& sequence : sequences) {
    // First, other lines fill every set. The sequence then uses new lines, because a scan-resistant policy may keep
    // lines of the earlier sequence. With new lines, it does not matter whether others displaced the earlier ones.
    const Address first = memory.fresh(region);
    const std::vector<Address> scrub = scrub_of(levels, number, first + conflict.front());
    const std::uint64_t bytes = 3 * level.size_bytes;
    const Address others = memory.fresh(bytes);
    for (std::uint64_t at = 0; at < bytes; at += level.line_bytes) memory.touch(others + at, Access::kRead);
    for (std::size_t i = 0; i < 40 + 6 * level.ways; ++i) {
      const std::size_t line = walks.random()() % conflict.size();
      for (const Address other : scrub) memory.touch(other, Access::kRead);
      const double cost = memory.touch(first + conflict[line], Access::kRead);
      if (cost < nearer_ns) continue;  // a nearer level answered
      sequence.push_back({line, cost < level.costs.limit_ns()});
      ++accesses;
    }
  }
  double best = -1e300, second = -1e300;
  Replacement winner = Replacement::kLru;
  for (const Replacement policy : kReplacements) {
    if (policy == Replacement::kPlru && (!std::has_single_bit(level.ways) || level.ways <= 2)) continue;
    const double score = log_likelihood(sequences, level.ways, policy, walks.random());
    if (score > best) {
      second = best, best = score, winner = policy;
    } else {
      second = std::max(second, score);
    }
  }
  double expected = 0;
  constexpr int kImagined = 5;
  for (int i = 0; i < kImagined; ++i) {
    expected +=
        log_likelihood(imagined(sequences, level.ways, winner, walks.random()), level.ways, winner, walks.random()) /
        kImagined;
  }
  const auto count = static_cast<double>(accesses);
  answer.confidence = std::min(1 / (1 + std::exp(second - best)), (count + 1) / (count + 2));
  answer.evidence = fmt::format(
      "{} accesses to {} lines have the probability {:.3f} per access; expected {:.3f} if the policy is {}; the "
      "second-best policy gives {:.3f}",
      accesses, conflict.size(), std::exp(best / count), std::exp(expected / count), to_string(winner),
      std::exp(second / count));
  if (best < expected - 0.12 * count || answer.confidence < kLeastConfidence) {
    answer.evidence += "; no known policy explains it";
    return answer;
  }
  answer.answer = to_string(winner);
  return answer;
}

}  // namespace ringside::probe
