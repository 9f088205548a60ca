// SPDX-License-Identifier: BSD-3-Clause
// Threads with loads, stores, allocations, frees, resizes, advice, pins and limits in the arena, against the same
// operations in plain memory.
#pragma once

#include <cstdint>
#include <string>

#include "memory/ringside_memory.h"

namespace ringside::testing {

struct OracleRun {
  uint64_t operations = 0;  // of each thread; a block of words counts as one
  int threads = 4;
  uint64_t seed = 1;
};

/// Empty, or what differed first. The arena is started. `accesses`: the loads and stores are added to it.
std::string compare_with_plain_memory(const ringside_memory_options& options, const OracleRun& run,
                                      uint64_t* accesses = nullptr);

}  // namespace ringside::testing
