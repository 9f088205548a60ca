// SPDX-License-Identifier: BSD-3-Clause
// Measures the line and the size of each cache, beginning at the processor. A level is found by the cost of accesses
// that miss the level before it.
#pragma once

#include <vector>

#include "memory/probe/answer.hpp"
#include "memory/probe/walks.hpp"

namespace ringside::probe {

struct Level {
  LevelCosts costs;
  std::uint64_t size_bytes = 0;   // the largest walk that fitted; 0: undetermined
  std::uint64_t above_bytes = 0;  // upper bound
  std::uint64_t line_bytes = 0;   // 0: undetermined
  std::uint32_t ways = 0;         // set by the probe of ways
  Answer size, line;
};

struct Levels {
  std::vector<Level> levels;
  double memory_ns = 0;
  std::string remark;  // why nothing was found, or ""
};

Levels find_levels(Walks& walks);

}  // namespace ringside::probe
