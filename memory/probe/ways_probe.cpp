// SPDX-License-Identifier: BSD-3-Clause
// The probe of the ways starts with many lines that do not fit together, and removes lines as long as the rest still
// does not fit; ways + 1 lines of one set remain. Nearer levels and prefetchers must not serve its accesses
// (docs/inside/model.md).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "memory/probe/probes.hpp"

namespace ringside::probe {
namespace {

/// Removes lines as long as the rest still does not fit together: first groups, then smaller groups, then single lines.
/// Ways + 1 lines of one set remain.
void reduce(Walks& walks, std::vector<Address>& lines, const LevelCosts& costs, const Company& company) {
  std::size_t group = std::max<std::size_t>(1, lines.size() / 4);
  while (true) {
    bool removed = false;
    for (std::size_t at = 0; at < lines.size() && lines.size() > 2;) {
      std::vector<Address> rest(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(at));
      const std::size_t end = std::min(lines.size(), at + group);
      rest.insert(rest.end(), lines.begin() + static_cast<std::ptrdiff_t>(end), lines.end());
      if (!rest.empty() && !walks.fit(rest, costs, company)) {
        lines = rest;
        removed = true;
      } else {
        at = end;
      }
    }
    if (group == 1 && !removed) return;
    group = std::max<std::size_t>(1, group / 2);
  }
}

/// The shortest prefix of `pool` whose lines do not fit together; empty if all lines fit.
std::vector<Address> fewest_that_conflict(Walks& walks, const LevelCosts& costs, const std::vector<Address>& pool,
                                          const Company& company) {
  const auto beginning = [&pool](std::uint64_t count) {
    return std::vector<Address>(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(count));
  };
  const auto fits = [&](std::uint64_t count) { return walks.fit(beginning(count), costs, company); };
  const std::uint64_t most = pool.size();
  std::uint64_t least = 1;
  std::uint64_t above = 2;
  while (above < most && fits(above)) least = above, above *= 2;
  above = std::min(above, most);
  if (above == most && fits(most)) return {};
  while (above - least > 1) {
    const std::uint64_t middle = least + (above - least) / 2;
    (fits(middle) ? least : above) = middle;
  }
  return beginning(above);
}

/// Lines at random places of a region. If the set of a line depends on more bits of its number than a stride can vary,
/// some lines at random places share a set by chance; with a stride, the lines would be spread evenly.
std::vector<Address> scattered(Walks& walks, Address first, std::uint64_t bytes, std::uint64_t line,
                               std::uint64_t count) {
  std::vector<Address> lines;
  while (lines.size() < count) lines.push_back(first + walks.random()() % (bytes / line) * line);
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::shuffle(lines.begin(), lines.end(), walks.random());
  return lines;
}

/// Whether a miss also brings in the next line.
bool brings_neighbour(Walks& walks, const Level& level) {
  const std::uint64_t place = 4 * level.line_bytes;
  const std::uint64_t count = 32;
  std::size_t fast = 0;
  for (const Address at : walks.lines_at(walks.memory().fresh(count * place), place, count)) {
    walks.memory().touch(at, Access::kRead);
    fast += walks.memory().touch(at + level.line_bytes, Access::kRead) < level.costs.limit_ns() ? 1U : 0U;
  }
  return fast * 2 > count;
}

/// A pair is a line and its neighbour; the given pairs conflict with each other. From each pair, selects the line that
/// is in the same set as pairs[0]. To test a line, it walks over this line without its neighbour, over pairs[0] without
/// its neighbour, and over all other pairs. The lines do not fit if the tested line is in that set, and fit otherwise.
/// The result is empty if neighbours share a set, because the test then does not apply.
std::vector<Address> of_one_set(Walks& walks, const std::vector<Address>& pairs, const LevelCosts& costs,
                                const Company& company) {
  std::vector<Address> lines{pairs[0]};
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    std::vector<Address> walk{pairs[0]};
    for (std::size_t other = 1; other < pairs.size(); ++other) {
      if (other != i) walk.insert(walk.end(), {pairs[other], pairs[other] + company.neighbour});
    }
    bool fits[2];
    for (const std::size_t upper : {0U, 1U}) {
      walk.push_back(pairs[i] + upper * company.neighbour);
      fits[upper] = walks.fit(walk, costs, {company.before});
      walk.pop_back();
    }
    if (fits[0] == fits[1]) return {};
    lines.push_back(fits[0] ? pairs[i] + company.neighbour : pairs[i]);
  }
  return lines;
}

}  // namespace

std::vector<Address> scrub_of(const std::vector<Level>& levels, int number, Address of) {
  std::vector<Address> scrub;
  for (int nearer = 1; nearer < number; ++nearer) {
    const Level& level = levels[static_cast<std::size_t>(nearer - 1)];
    if (level.ways == 0) continue;
    // Odd multiples of one way of the nearer level have the same set there, and another set in the next level. The step
    // is at least two lines, so that no prefetched line is in the set of `of` either.
    const std::uint64_t way_bytes = std::max(std::bit_floor(level.above_bytes / level.ways),
                                             2 * levels[static_cast<std::size_t>(number - 1)].line_bytes);
    for (std::uint64_t i = 0; i < 3 * level.ways; ++i) scrub.push_back(of + (2 * i + 1) * way_bytes);
  }
  return scrub;
}

Answer probe_ways(Walks& walks, std::vector<Level>& levels, int number, std::vector<Address>& conflict) {
  Level& level = levels[static_cast<std::size_t>(number - 1)];
  Answer answer{"ways", number, kUndetermined, 0, 0, {}};
  if (!level.size.determined() || !level.line.determined()) {
    answer.evidence = "this probe needs the level's size and line";
    return answer;
  }
  const std::uint64_t lines = level.size_bytes / level.line_bytes;
  const std::uint64_t stride = std::bit_ceil(level.above_bytes);
  const std::uint64_t most = std::min(lines + lines / 16 + 2, walks.memory().most_bytes() / 2 / stride);
  std::uint32_t nearer_ways = 0;
  for (int nearer = 1; nearer < number; ++nearer) {
    nearer_ways = std::max(nearer_ways, levels[static_cast<std::size_t>(nearer - 1)].ways);
    if (levels[static_cast<std::size_t>(nearer - 1)].ways == 0) {
      answer.evidence =
          fmt::format("the ways of level {} are undetermined: that level could hold the lines itself", nearer);
      return answer;
    }
  }
  if (!walks.single_touches_tell(level.costs)) {
    answer.evidence =
        "single accesses do not distinguish the levels, and a chain of accesses is also slow if the processor "
        "mispredicts a way";
    return answer;
  }
  // A next-line prefetcher fills other sets with lines that were not requested, and two full sets can prevent each
  // other from settling. Pairs of neighbours that are touched in ascending order bring in only themselves, one line for
  // each set.
  const std::uint64_t neighbour = brings_neighbour(walks, level) ? level.line_bytes : 0;
  bool scrubbed = false, share_sets = false;
  Votes votes;
  while (!votes.decided(12)) {
    Address first = walks.memory().fresh(most * stride);
    Company company{{}, neighbour};
    if (scrubbed) company.before = scrub_of(levels, number, first);
    std::vector<Address> found =
        fewest_that_conflict(walks, level.costs, walks.lines_at(first, stride, most), company);
    std::uint64_t ways = found.empty() ? 0 : found.size() - 1;
    const std::uint64_t wide = 64 * level.size_bytes;
    if (ways > 32 && wide <= walks.memory().most_bytes()) {  // strides spread evenly: all lines fit, or sets are hashed
      first = walks.memory().fresh(wide);
      const std::uint64_t unit = level.line_bytes + neighbour;
      found = fewest_that_conflict(walks, level.costs, scattered(walks, first, wide, unit, most), company);
      ways = found.empty() ? 0 : found.size() - 1;
    }
    if (ways != 0 && ways * 32 < lines * 31) {
      reduce(walks, found, level.costs, company);
      ways = found.size() - 1;
    }
    if (ways != 0 && ways <= nearer_ways && !scrubbed && number > 1) {
      scrubbed = true;  // from now on no nearer level answers
      votes = {};
      continue;
    }
    if (ways != 0 && neighbour != 0) {
      found = of_one_set(walks, found, level.costs, company);
      share_sets = found.empty();
      if (share_sets) ways = 0;
    }
    votes.add(ways);
    if (ways == 0 || ways != votes.winner()) continue;
    conflict = found;
    for (Address& line : conflict) line -= first;
  }
  answer.confidence = votes.confidence();
  answer.value = votes.winner();
  answer.evidence =
      fmt::format("{} of {} trials: {} lines of one set do not fit together, but fit without any one of them{}",
                  votes.agreeing(), votes.trials(), votes.winner() + 1, scrubbed ? "; nearer levels were emptied" : "");
  if (answer.value == 0) {
    answer.evidence = share_sets ? "a prefetcher fetches neighbouring lines, and these seem to share a set"
                                 : fmt::format("{} lines that are far apart fit: no conflict was found", most);
  }
  if (answer.value == 0 || answer.confidence < kLeastConfidence) return answer;
  const bool full = answer.value * 32 >= lines * 31;
  level.ways = static_cast<std::uint32_t>(answer.value);
  answer.answer =
      answer.value == 1 ? "1 (direct-mapped)" : fmt::format("{}{}", answer.value, full ? " (fully associative)" : "");
  return answer;
}

}  // namespace ringside::probe
