// SPDX-License-Identifier: BSD-3-Clause
// What became of a run's triggers at one step: it travels with the step's figures to the recorder, which makes records
// of it (docs/use/questions.md). Fixed size, no pointers.
#pragma once

#include <cstdint>
#include <optional>

namespace ringside {

struct StepMarks {
  std::uint64_t fired = 0;       // bits: the triggers, in the order of the set
  std::uint64_t undefined = 0;   // those whose condition has no value, for the first time
  std::uint64_t non_finite = 0;  // entries that are NaN or infinite
  std::optional<std::uint64_t> last_finite_iteration{};  // which is not overwritten any more; nothing: there is none
  std::uint64_t not_archived = 0;  // steps that could not be copied to the archive, since the last mark said so
  int freeze_error = 0;            // an errno value: the ring is frozen as long as this analyzer lives

  bool any() const noexcept { return fired != 0 || undefined != 0 || not_archived != 0; }
};

}  // namespace ringside
