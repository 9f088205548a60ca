// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/reduce_adaptation.hpp"

namespace ringside {

void ReduceAdaptation::step_ended(std::int64_t ended_ns) noexcept {
  if (done_) return;
  ++steps_;
  if (steps_ == kSettling) measured_from_ns_ = ended_ns;
  if (steps_ < kSettling + kMeasured) return;
  const std::int64_t took_ns = ended_ns - measured_from_ns_;
  if (first_mode_ns_ == 0) {
    done_ = took_ns <= kMeasured * limit_ns_;  // if steps are as fast as planned, there is nothing to gain
    first_mode_ns_ = took_ns;
    if (!done_) switch_mode();
    return;
  }
  if (took_ns > first_mode_ns_) switch_mode();
  adapted_ = true;
  done_ = true;
}

}  // namespace ringside
