// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/probes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringside::probe {

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
  answer.evidence =
      fmt::format("{} of {} trials on untouched memory agree; control accesses in random order: {} of {} were fast",
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
    answer.evidence =
        "this probe needs a size well above that of the nearer level, and distinguishable hits and misses";
    return answer;
  }
  // Each line is read, and then read again or written. Only the second access differs, so allocation on a write has no
  // effect.
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
      "in memory accesses, a write costs {:.2f} more than a read where lines stay, and {:.2f} more where they are "
      "displaced; a read after a write {} in {} of {}",
      fit_extra, over_extra, allocation.winner() == 1 ? "hits" : "misses", allocation.agreeing(), allocation.trials());
  if (policy.winner() == 0) {
    answer.evidence += "; the policy is write-back, or nothing waits for a write";
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
