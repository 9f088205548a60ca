// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "memory/probe/cache_spec.hpp"

namespace ringside::probe {
namespace {

/// Removes from lines that do not fit together whatever can go, so that the rest still does not fit: groups, then
/// smaller groups, then single lines. What remains are ways + 1 lines of one set.
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

/// The shortest beginning of `pool` whose lines do not fit together; empty: all fit.
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

/// Lines anywhere in a region. Where sets are chosen by more digits than a stride leaves alone, some of these lines are
/// in one set by chance; strides would spread them evenly.
std::vector<Address> scattered(Walks& walks, Address first, std::uint64_t bytes, std::uint64_t line,
                               std::uint64_t count) {
  std::vector<Address> lines;
  while (lines.size() < count) lines.push_back(first + walks.random()() % (bytes / line) * line);
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::shuffle(lines.begin(), lines.end(), walks.random());
  return lines;
}

/// Whether a miss brings the next line in, too.
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

/// Pairs of neighbours that conflict as pairs -> lines of one set: of each pair the line that is in the set of
/// pairs[0]. Which one it is shows if one of them takes part alone, with pairs[0] alone and all other pairs whole: the
/// right one does not fit, the other one does. Empty: it is not so, because neighbours share a set.
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
    // Odd multiples of one way of the nearer level: its set is the same, the set of the level behind is another one. Of
    // two lines at least: no line fetched ahead is in the set either.
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
    answer.evidence = "needs size and line of the level";
    return answer;
  }
  const std::uint64_t lines = level.size_bytes / level.line_bytes;
  const std::uint64_t stride = std::bit_ceil(level.above_bytes);
  const std::uint64_t most = std::min(lines + lines / 16 + 2, walks.memory().most_bytes() / 2 / stride);
  std::uint32_t nearer_ways = 0;
  for (int nearer = 1; nearer < number; ++nearer) {
    nearer_ways = std::max(nearer_ways, levels[static_cast<std::size_t>(nearer - 1)].ways);
    if (levels[static_cast<std::size_t>(nearer - 1)].ways == 0) {
      answer.evidence = fmt::format("the ways of level {} are undetermined: it could hold the lines itself", nearer);
      return answer;
    }
  }
  if (!walks.single_touches_tell(level.costs)) {
    answer.evidence =
        "single touches do not tell the levels apart, and a chain is also slow where a way is predicted wrongly";
    return answer;
  }
  // A prefetcher of next lines fills other sets with lines that nothing asked for, and two full sets can keep each other
  // from settling. Pairs of neighbours, touched upwards, bring in nothing but themselves, one line to each set.
  const std::uint64_t neighbour = brings_neighbour(walks, level) ? level.line_bytes : 0;
  bool scrubbed = false, share_sets = false;
  Votes votes;
  while (!votes.decided(12)) {
    Address first = walks.memory().fresh(most * stride);
    Company company{{}, neighbour};
    if (scrubbed) company.before = scrub_of(levels, number, first);
    std::vector<Address> found = fewest_that_conflict(walks, level.costs, walks.lines_at(first, stride, most), company);
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
      scrubbed = true;  // from now on nothing nearer answers
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
      fmt::format("{} of {} trials: {} lines of one set do not fit, any of them fewer do{}", votes.agreeing(),
                  votes.trials(), votes.winner() + 1, scrubbed ? "; nearer levels emptied" : "");
  if (answer.value == 0) {
    answer.evidence = share_sets ? "a prefetcher brings neighbours in, and they seem to share a set"
                                 : fmt::format("{} lines far apart fit: no conflict found", most);
  }
  if (answer.value == 0 || answer.confidence < kLeastConfidence) return answer;
  const bool full = answer.value * 32 >= lines * 31;
  level.ways = static_cast<std::uint32_t>(answer.value);
  answer.answer =
      answer.value == 1 ? "1 (direct-mapped)" : fmt::format("{}{}", answer.value, full ? " (fully associative)" : "");
  return answer;
}

Answer probe_prefetch(Walks& walks, const std::vector<Level>& levels, double memory_ns) {
  const Level& last = levels.back();
  Answer answer{"prefetch", static_cast<int>(levels.size()), kUndetermined, 0, 0, {}};
  std::uint64_t line = 0;
  for (const Level& level : levels) line = std::max(line, level.line_bytes);
  const double limit_ns = (last.costs.hit_ns + memory_ns) / 2;
  constexpr std::uint64_t kRun = 12;
  std::size_t controls_fast = 0, controls = 0;
  Votes votes;
  while (!votes.decided()) {
    const Address first = walks.memory().fresh(64 * line);
    for (const Address at : walks.lines_at(first, 5 * line, kRun)) {
      ++controls;
      controls_fast += walks.memory().touch(at, Access::kRead) < limit_ns ? 1U : 0U;
    }
    const Address pair = walks.memory().fresh(64 * line) + 8 * line;
    walks.memory().touch(pair, Access::kRead);
    const bool next_is_fast = walks.memory().touch(pair + line, Access::kRead) < limit_ns;
    const Address run = walks.memory().fresh(64 * line);
    std::size_t fast = 0;
    for (std::uint64_t i = 0; i < kRun; ++i) {
      const double cost = walks.memory().touch(run + i * 3 * line, Access::kRead);
      if (i >= kRun / 2 && cost < limit_ns) ++fast;
    }
    const Address neighbours = walks.memory().fresh(64 * line);
    std::size_t fast_neighbours = 0;
    for (std::uint64_t i = 0; i < 2 * kRun; ++i) {
      const double cost = walks.memory().touch(neighbours + i * line, Access::kRead);
      if (i >= kRun && cost < limit_ns) ++fast_neighbours;
    }
    votes.add(next_is_fast ? 1 : (fast >= 4 ? 2 : (fast_neighbours >= kRun / 2 ? 3 : 0)));
  }
  answer.confidence = votes.confidence();
  constexpr const char* kNames[] = {"none", "next-line", "stride", "sequential"};
  answer.evidence = fmt::format("{} of {} trials on memory never touched; control in random order: {} of {} fast",
                                votes.agreeing(), votes.trials(), controls_fast, controls);
  if (controls_fast * 5 > controls) {
    answer.evidence = "control failed: " + answer.evidence;
  } else if (answer.confidence >= kLeastConfidence) {
    answer.answer = kNames[votes.winner()];
  }
  return answer;
}

Answer probe_write(Walks& walks, const std::vector<Level>& levels, double memory_ns) {
  const Level& last = levels.back();
  Answer answer{"write", static_cast<int>(levels.size()), kUndetermined, 0, 0, {}};
  TimedMemory& memory = walks.memory();
  const std::uint64_t nearer = levels.size() > 1 ? levels[levels.size() - 2].above_bytes : 0;
  const std::uint64_t within = last.size_bytes / 2;
  if (!last.size.determined() || !walks.single_touches_tell({last.costs.hit_ns, memory_ns}) || within < 2 * nearer) {
    answer.evidence = "needs a size, twice that of the level before, and touches that tell a hit from a miss";
    return answer;
  }
  // Each line is read, then read or written: only the second access differs, so that allocation plays no part.
  const LevelCosts costs{last.costs.hit_ns, memory_ns, 3 * memory_ns};
  constexpr double kNotSettled = 1e9;
  const auto cost_of = [&](std::uint64_t bytes, Access second) {
    const std::vector<Address> lines =
        walks.lines_at(memory.fresh(bytes), last.line_bytes, std::max<std::uint64_t>(2, bytes / last.line_bytes));
    const int laps = lines.size() < 512 ? 24 : (lines.size() < 100000 ? 6 : 2);
    double sum = 0;
    std::uint64_t count = 0;
    if (bytes == within && !walks.fit(lines, costs)) return kNotSettled;
    for (int lap = 0; lap < 2 * laps; ++lap) {
      for (const Address line : lines) {
        const double cost = memory.touch(line, Access::kRead) + memory.touch(line, second);
        if (lap >= laps && cost < 6 * memory_ns) sum += cost, ++count;
      }
    }
    return sum / static_cast<double>(std::max<std::uint64_t>(1, count));
  };
  Votes policy, allocation;
  double fit_extra = 0, over_extra = 0;
  while (!policy.decided(8)) {
    const double write_ns = cost_of(within, Access::kWrite);
    const double read_ns = cost_of(within, Access::kRead);
    if (write_ns >= kNotSettled || read_ns >= kNotSettled) {
      policy.add(0);
      continue;
    }
    fit_extra = (write_ns - read_ns) / memory_ns;
    over_extra =
        (cost_of(3 * last.size_bytes, Access::kWrite) - cost_of(3 * last.size_bytes, Access::kRead)) / memory_ns;
    policy.add(fit_extra > 0.2 ? 2 : (fit_extra < 0.1 && over_extra > 0.2 ? 1 : 0));
  }
  while (!allocation.decided()) {
    const Address line = memory.fresh(1 << 16) + (1 << 12);
    memory.touch(line, Access::kWrite);
    allocation.add(memory.touch(line, Access::kRead) < (last.costs.hit_ns + memory_ns) / 2 ? 1 : 0);
  }
  answer.confidence = std::min(policy.confidence(), allocation.confidence());
  answer.evidence = fmt::format(
      "a write adds {:.2f} of a memory access where lines stay, {:.2f} where they are displaced; read after write {} "
      "in {} of {}",
      fit_extra, over_extra, allocation.winner() == 1 ? "hits" : "misses", allocation.agreeing(), allocation.trials());
  if (policy.winner() == 0) {
    answer.evidence += "; write-back, or writes that nothing waits for";
  } else if (answer.confidence >= kLeastConfidence) {
    answer.answer = fmt::format("{}, {}", policy.winner() == 1 ? "write-back" : "write-through",
                                allocation.winner() == 1 ? "write-allocate" : "no write-allocate");
  }
  return answer;
}

ProbeReport probe_memory(TimedMemory& memory, const ProbeChoice& choice) {
  ProbeReport report;
  Walks walks(memory);
  Levels found = find_levels(walks);
  report.memory_ns = found.memory_ns;
  report.levels = static_cast<int>(found.levels.size());
  report.remark = found.remark;
  const auto asked = [&choice](const char* question) {
    return std::find(choice.questions.begin(), choice.questions.end(), question) != choice.questions.end();
  };
  const auto add = [&](const Answer& answer) {
    if (asked(answer.question.c_str()) && (choice.all_levels || answer.level == report.levels))
      report.answers.push_back(answer);
  };
  for (int number = 1; number <= report.levels; ++number) {
    Level& level = found.levels[static_cast<std::size_t>(number - 1)];
    add(level.size);
    add(level.line);
    std::vector<Address> conflict;
    if (asked("ways") || asked("replacement")) add(probe_ways(walks, found.levels, number, conflict));
    if (asked("replacement")) add(probe_replacement(walks, found.levels, number, conflict));
  }
  if (report.levels == 0) return report;
  if (asked("prefetch")) report.answers.push_back(probe_prefetch(walks, found.levels, found.memory_ns));
  if (asked("write")) report.answers.push_back(probe_write(walks, found.levels, found.memory_ns));
  return report;
}

}  // namespace ringside::probe
