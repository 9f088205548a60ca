// SPDX-License-Identifier: BSD-3-Clause
// Decides under `--adapt` whether the next iterate is reduced in its slot or during the copy into it. If steps take
// longer than planned, both modes are measured in turn, and the faster mode is used from then on. The results are
// bit-identical in both modes, so the mode may change at any step (docs/inside/kernels.md).
#pragma once

#include <cstdint>

#include "common/options/options.hpp"

namespace ringside {

/// Only one thread may use an object. No function here allocates, logs or throws.
class ReduceAdaptation {
 public:
  /// The number of steps measured in each mode. Before them, kSettling steps are not counted, so that the caches and
  /// the pace of the steps can settle.
  static constexpr int kMeasured = 20;
  static constexpr int kSettling = 3;

  ReduceAdaptation(ReduceAt at, const PlannedStepOptions& planned) noexcept
      : at_(at), limit_ns_(static_cast<std::int64_t>(planned.high_ns)), done_(!planned.adapt || limit_ns_ == 0) {}

  ReduceAt at() const noexcept { return at_; }
  /// Whether the present mode was chosen after both modes were measured.
  bool adapted() const noexcept { return adapted_; }

  /// Call this when the analyzer has ended its work on a step. ended_ns: the time of that end (CLOCK_MONOTONIC).
  void step_ended(std::int64_t ended_ns) noexcept;

 private:
  void switch_mode() noexcept {
    at_ = at_ == ReduceAt::kSlot ? ReduceAt::kTransfer : ReduceAt::kSlot;
    steps_ = 0;
  }

  ReduceAt at_;
  std::int64_t limit_ns_;  // the planned time of a step
  bool done_;
  bool adapted_ = false;
  int steps_ = 0;  // the number of steps that ended in this mode
  std::int64_t measured_from_ns_ = 0;
  std::int64_t first_mode_ns_ = 0;  // the time of kMeasured steps in the first mode; 0 if not measured yet
};

}  // namespace ringside
