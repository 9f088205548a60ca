// SPDX-License-Identifier: BSD-3-Clause
// The rules for the trials of a user's program: which trial is made next, and which one is the best
// (docs/inside/model.md, "Trials of a program"). A trial is a PlanRow whose times were measured, and are those of one
// step: total_s is the time from one publish to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "node/plan/plan.hpp"

namespace ringside {

inline constexpr std::size_t kUncountedSteps = 5;   // the first steps, in which memory and caches are still cold
inline constexpr std::size_t kCountedSteps = 15;
inline constexpr std::size_t kLeastTrialSteps = 4;  // with fewer steps, a trial is not used
inline constexpr int kCoresWithAllSplits = 8;       // on more cores, the trials bisect

/// The number of first steps that do not count. Until all buffers are full, the program does not wait for the analyzer.
constexpr std::size_t uncounted_steps(std::size_t buffers) noexcept {
  return buffers < kUncountedSteps ? kUncountedSteps : buffers + 1;
}
/// The number of committed steps after which a trial is ended.
constexpr std::size_t trial_steps(std::size_t buffers) noexcept {
  return uncounted_steps(buffers) + kCountedSteps;
}

struct TrialRequest {
  Configuration usual;  // that of a run without --cores, which is tried first
  bool is_split_fixed = false;
  bool is_reduce_fixed = false;
};

/// The configuration to try after `tried`, the trials in the order in which they were made; empty after the last one.
std::optional<Configuration> next_trial(const TrialRequest& request, std::span<const PlanRow> tried);

/// The largest number of trials for this request.
int most_trials(const TrialRequest& request);

/// The index of the trial with the least time a step, if this time is clearly less than that of the first trial;
/// otherwise 0. `tried` must not be empty.
std::size_t best_trial(std::span<const PlanRow> tried);

}  // namespace ringside
