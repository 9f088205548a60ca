// SPDX-License-Identifier: BSD-3-Clause
// Groups of OpenMP threads in one process, each pinned to its cores as a process of a run is. libgomp keeps a pool of
// threads for each thread that opens parallel regions, and ends the pool when that thread ends. Therefore each group
// has one such thread, which opens its parallel regions.
#pragma once

#include <functional>
#include <vector>

#include "common/threads/team.hpp"

namespace ringside {

/// The work of a group, which begins when all groups are set up. It must not throw, because the other groups may wait
/// for it: an exception ends the program.
using GroupWork = std::function<void()>;

struct OpenMpGroup {
  std::vector<int> cpus;  // one thread on each
  /// This function runs first, on the thread of cpus[0], which also calls the returned function. `team` lives until the
  /// returned function has ended. If set_up throws, no group works.
  std::function<GroupWork(Team& team)> set_up;
};

/// Runs the groups side by side and returns when all are done. Throws the Error of a set-up that failed.
void run_openmp_groups(const std::vector<OpenMpGroup>& groups);

/// Spins until `reached()`. If this takes long, yields the core to other threads from time to time.
template <class Reached>
void spin_until(const Reached& reached) noexcept;

/// sched_yield(2).
void yield_core() noexcept;

template <class Reached>
void spin_until(const Reached& reached) noexcept {
  constexpr int kPausesBeforeYield = 1000;
  for (int pauses = 1; !reached(); ++pauses) {
    __builtin_ia32_pause();
    if (pauses % kPausesBeforeYield == 0) yield_core();
  }
}

}  // namespace ringside
