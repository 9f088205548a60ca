// SPDX-License-Identifier: BSD-3-Clause
// Reduces kept steps again from their bytes, and compares each result bit for bit with the recorded result of the same
// name. Also recomputes the change, if the previous iterate can still be read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/handoff/step_descriptor.hpp"
#include "common/records/step_results.hpp"
#include "common/reductions/step_reducer.hpp"
#include "common/results/result_values.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"

namespace ringside {

enum class ReplayVerdict {
  kEqual,
  kDiffers,
  kNotRecorded,        // no results are recorded: not computed yet, or the analyzer died before it stored them
  kReductionsDamaged,  // the payload verifies, but the recorded reductions do not
  kOverwritten,        // another step was committed to the slot while it was read
  kDamaged             // the payload does not verify
};

struct ReplayedIterate {
  KeptSlot kept;
  ReplayVerdict verdict = ReplayVerdict::kEqual;
  StepWithScalars step;              // this and the following members are valid if the payload verified
  std::vector<std::uint64_t> words;  // the recomputed results, in the order of RingReplay::catalogue
  // A change was recorded but could not be recomputed, because the previous iterate is lost. All other results were
  // compared.
  bool change_left_out = false;
  std::vector<ResultDifference> differences;
  PayloadCheck payload;  // with kDamaged: the damaged parts
};

class RingReplay {
 public:
  /// Holds two steps in memory. ring, plug_ins: must outlive this object. plug_ins: if null, plug-ins' results are not
  /// recomputed.
  explicit RingReplay(const RingView& ring, PlugInSet* plug_ins = nullptr);

  /// The results, without scalars, that this release computes for a step of the ring.
  const Catalogue& catalogue() const noexcept { return reducer_.catalogue(); }

  /// Those of the recomputed results that are numbers, by name.
  StepResults results(std::span<const std::uint64_t> words) const;
  /// The reductions of a step's first field; with top entries and histogram only if x is the step's only variable.
  /// Empty if the step has no field. words: the recomputed results.
  std::optional<Reductions> shown(std::span<const std::uint64_t> words) const;

  /// Reads, verifies and reduces one slot. Call it in the order of ascending commit_seq. Uses all OpenMP threads.
  ReplayedIterate replay(const KeptSlot& kept);

  /// Reads an iterate that is not replayed itself but may precede the next replayed one.
  void skip(const KeptSlot& kept);

 private:
  const void* predecessor_of(const SlotHeader& header) const noexcept;
  void compare(ReplayedIterate& iterate);
  Catalogue recorded_catalogue(const SlotHeader& header, const SlotResults& recorded);

  const RingView& ring_;
  StepReducer reducer_;
  const SharedLayout layout_;          // the layout of the recomputed results
  std::vector<std::uint64_t> step_;    // the payload of the step that is replayed
  std::vector<std::uint64_t> before_;  // the payload of the step before that step
  // The catalogue that was used last: consecutive steps mostly belong to one run.
  Id128 run_id_;
  std::uint64_t catalogue_hash_ = 0;
  std::optional<Catalogue> recorded_catalogue_;
  std::optional<SlotHeader> before_header_;  // the header of the iterate in `before_`
};

}  // namespace ringside
