// SPDX-License-Identifier: BSD-3-Clause
// `ringside calibrate`: measures this machine, and our kernels on the given matrices, within a time limit
// (docs/use/plan.md).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/options/options.hpp"
#include "common/platform/stop_flag.hpp"
#include "node/model/node.hpp"

namespace ringside {

inline constexpr double kCalibrationBudgetS = 180;
inline constexpr double kQuickCalibrationBudgetS = 30;

/// The machine counts as busy above this spread, or above this load average per core.
inline constexpr double kBusySpread = 0.15;
inline constexpr double kBusyLoadPerCore = 0.5;

struct CalibrationProgress {
  double done = 0;    // share of the time, 0 to 1; never less than before
  double left_s = 0;  // an upper bound, from the measurements so far
  std::string what;   // the current measurement
};

struct CalibrationOptions {
  std::vector<SolveOptions> problems;  // at least one
  std::vector<std::string> folders;    // folders of --memory; none: the current folder and /dev/shm, if they have room
  std::vector<int> threads;            // ascending; none: 1, 2, 3, 4, 6, 8, 12 ... and all
  double budget_s = kCalibrationBudgetS;
  std::uint64_t stream_elements = 0;  // doubles in an array of a STREAM loop; 0: four times the last-level caches
  StopFlag stop = {};
  std::function<void(const CalibrationProgress&)> announce;  // called before each measurement; may be empty
};

/// Call this function before any thread is pinned. Throws Error: exit code 2 for bad input; 3 if a folder has no room
/// or permission, there are more threads than cores, or the system lacks something; 130 if `stop` is set.
Node calibrate(const CalibrationOptions& options);

}  // namespace ringside
