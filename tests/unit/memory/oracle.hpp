// SPDX-License-Identifier: BSD-3-Clause
// Threads load, store, allocate, free, resize, advise, pin and change the limit in the arena. The content is compared
// with that of ordinary memory on which the same operations were made.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "memory/ringside_memory.h"

namespace ringside::testing {

struct OracleRun {
  uint64_t operations = 0;  // the operations of each thread; a block of words counts as one
  int threads = 4;
  uint64_t seed = 1;
  bool may_be_full = false;  // an allocation may fail with ENOMEM; existing allocations do not change then
  /// Called by each thread after about every 64th operation, with a random number.
  std::function<void(uint64_t random)> meanwhile;
  bool reports_at_once = false;  // writes a difference to standard error at once, because the process may end
};

struct OracleCounts {
  std::atomic<uint64_t> accesses{0};  // loads and stores
  std::atomic<uint64_t> refused{0};   // refused allocations, with may_be_full
};

/// Returns an empty text, or the first difference. The caller must have started the arena. The numbers in `counts` grow
/// during the call.
std::string compare_with_plain_memory(const ringside_memory_options& options, const OracleRun& run,
                                      OracleCounts* counts = nullptr);

}  // namespace ringside::testing
