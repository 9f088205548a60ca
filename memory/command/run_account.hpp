// SPDX-License-Identifier: BSD-3-Clause
// The account that `ringside-memory run` prints at the end: the entries that a run's processes have on the account
// page, as text, JSON and Prometheus metrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memory/preload/account_page.hpp"

namespace ringside {

/// The figures of one process, or the sum of all.
struct MemoryFigures : memory::AccountCounters {
  std::int32_t pid = 0;
  std::string name;
  bool forked = false;
  bool serves_kernel = false;  // system calls on absent pages work
};

struct MemoryRun {
  std::vector<std::string> program;
  int exit_code = 0, signal = 0;  // the exit code as a shell reports it; the signal that ended the program, or 0
  double wall_s = 0, user_s = 0, system_s = 0;
  std::string far_folder, faults;
  std::uint64_t dram_limit_bytes = 0, min_size_bytes = 0;
  std::vector<MemoryFigures> processes;
  std::uint64_t not_listed = 0;  // processes for which the page had no entry
};

/// Reads the entries of the processes. For a process that is still running, the entry has its current state.
void read_account(const memory::AccountPage& page, MemoryRun& run);

/// The sums over all processes. For the peaks of DRAM and of small allocations, it is the largest value of one process.
MemoryFigures sum(const MemoryRun& run);

std::string account_text(const MemoryRun& run);
std::string account_json(const MemoryRun& run);
std::string account_metrics(const MemoryRun& run);

}  // namespace ringside
