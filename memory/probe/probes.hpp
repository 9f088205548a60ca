// SPDX-License-Identifier: BSD-3-Clause
// The questions about the caches before a memory, and a function that answers all of them in order
// (docs/inside/model.md).
#pragma once

#include <string>
#include <vector>

#include "memory/probe/answer.hpp"
#include "memory/probe/walks.hpp"

namespace ringside::probe {

inline constexpr const char* kQuestions[] = {"size", "line", "ways", "prefetch", "write", "replacement"};

struct Level {
  LevelCosts costs;
  std::uint64_t size_bytes = 0;   // the largest walk that fitted; 0: undetermined
  std::uint64_t above_bytes = 0;  // upper bound of the size
  std::uint64_t line_bytes = 0;   // 0: undetermined
  std::uint32_t ways = 0;         // set by the probe of ways
  Answer size, line;
};

struct Levels {
  std::vector<Level> levels;
  double memory_ns = 0;
  std::string remark;  // the reason if no level was found, or ""
};

/// Measures the line and the size of each cache, beginning at the processor. A level is found by the cost of accesses
/// that miss the level before it.
Levels find_levels(Walks& walks);

struct ProbeChoice {
  std::vector<std::string> questions{std::begin(kQuestions), std::end(kQuestions)};
  bool all_levels = false;  // if false, only the last cache in front of the memory is examined
};

struct ProbeReport {
  std::vector<Answer> answers;
  int levels = 0;
  double memory_ns = 0;
  std::string remark;  // the reason if nothing was found, or ""
};

ProbeReport probe_memory(TimedMemory& memory, const ProbeChoice& choice = {});

/// Finds the number of ways of levels[number - 1], and sets the level's `ways`. `conflict`: if the ways were
/// determined, it becomes ways + 1 lines of one set, as offsets in a fresh region. These lines share a set at every
/// address of such a region, because hashes of addresses are linear.
Answer probe_ways(Walks& walks, std::vector<Level>& levels, int number, std::vector<Address>& conflict);

/// Lines that displace the line `of` from the levels nearer to the processor when they are touched. They are in other
/// sets of the level itself.
std::vector<Address> scrub_of(const std::vector<Level>& levels, int number, Address of);

Answer probe_prefetch(Walks& walks, const std::vector<Level>& levels, double memory_ns);
Answer probe_write(Walks& walks, const std::vector<Level>& levels, double memory_ns);
Answer probe_replacement(Walks& walks, const std::vector<Level>& levels, int number,
                         const std::vector<Address>& conflict);

}  // namespace ringside::probe
