// SPDX-License-Identifier: BSD-3-Clause
// Reduces kept iterates again from their bytes, and compares the result bit for bit with what was recorded. The change
// against the iterate before is recomputed, too, if that iterate can still be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/ring/ring_recovery.hpp"
#include "analyzer/ring/ring_view.hpp"
#include "common/handoff/step_descriptor.hpp"
#include "common/reductions/reduction.hpp"
#include "common/reductions/reduction_differences.hpp"

namespace ringside {

enum class ReplayVerdict {
  kEqual,
  kDiffers,
  kNotRecorded,        // nothing to compare with: not computed yet, or the analyzer died before that
  kReductionsDamaged,  // the recorded reductions do not verify; the payload does
  kOverwritten,        // the slot took another commit while it was read
  kDamaged             // the payload does not verify
};

struct ReplayedIterate {
  KeptSlot kept;
  ReplayVerdict verdict = ReplayVerdict::kEqual;
  StepDescriptor step;    // of a payload that verified, like the members below
  Reductions reductions;  // recomputed; has_change is 1 if the change was, too
  // A change was recorded but could not be recomputed, because the iterate before is gone. All else was compared.
  bool change_left_out = false;
  std::vector<FieldDifference> differences;
  PayloadCheck payload;  // where kDamaged: its damaged parts
};

class RingReplay {
 public:
  /// Holds two iterates in memory. `ring` must outlive it.
  explicit RingReplay(const RingView& ring);

  /// Reads, verifies and reduces one slot; to be called by ascending commit_seq. Uses all OpenMP threads.
  ReplayedIterate replay(const KeptSlot& kept);

  /// Reads an iterate that is not to be replayed itself but may be the predecessor of the next one.
  void skip(const KeptSlot& kept);

 private:
  const double* predecessor_of(const SlotHeader& header) const noexcept;
  void compare(ReplayedIterate& iterate);

  const RingView& ring_;
  Reducer reducer_;
  std::vector<double> x_;
  std::vector<double> before_;
  std::optional<SlotHeader> before_header_;  // of the iterate in `before_`
};

}  // namespace ringside
