// SPDX-License-Identifier: BSD-3-Clause
// The processors a test may put its threads on.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <cstddef>
#include <vector>

namespace ringside {

/// In ascending order.
inline std::vector<int> allowed_cpus() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace ringside
