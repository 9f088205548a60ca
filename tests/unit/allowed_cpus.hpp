// SPDX-License-Identifier: BSD-3-Clause
// The processors to which a test may bind its threads.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <cstddef>
#include <vector>

namespace ringside {

/// The processors that the calling thread (or another thread) may use, in ascending order.
inline std::vector<int> allowed_cpus(pid_t thread = 0) {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(thread, sizeof set, &set), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

/// `count` processors; on a small machine, some of them occur twice.
inline std::vector<int> some_cpus(std::size_t count) {
  const std::vector<int> allowed = allowed_cpus();
  std::vector<int> cpus;
  for (std::size_t i = 0; i < count; ++i) cpus.push_back(allowed[i % allowed.size()]);
  return cpus;
}

}  // namespace ringside
