// SPDX-License-Identifier: BSD-3-Clause
// The effects of a run's triggers at one step. The recorder receives them with the step's figures and makes records
// from them (docs/use/questions.md). The struct has a fixed size and no pointers.
#pragma once

#include <cstdint>
#include <optional>

namespace ringside {

struct StepMarks {
  std::uint64_t fired = 0;       // a bit for each trigger, in the order of the set
  std::uint64_t undefined = 0;   // bits: triggers whose condition is undefined for the first time
  std::uint64_t non_finite = 0;  // the number of entries that are NaN or infinite
  std::optional<std::uint64_t> last_finite_iteration{};  // iteration of the protected step; empty: no step
  std::uint64_t not_archived = 0;  // steps that were not copied to the archive since the last mark that reported this
  int freeze_error = 0;            // an errno value; not 0: the ring is frozen only while this analyzer runs

  bool any() const noexcept { return fired != 0 || undefined != 0 || not_archived != 0; }
};

}  // namespace ringside
