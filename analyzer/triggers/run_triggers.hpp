// SPDX-License-Identifier: BSD-3-Clause
// The triggers of one run: evaluates them after each step, and performs the actions of those that fire
// (docs/use/questions.md). The main thread calls all functions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ring/ring_writer.hpp"
#include "analyzer/triggers/pool_archive.hpp"
#include "common/handoff/handoff_reader.hpp"
#include "common/options/options.hpp"
#include "common/records/record_layout.hpp"
#include "common/records/step_figures.hpp"
#include "common/triggers/pool_freeze.hpp"
#include "common/triggers/trigger_set.hpp"

namespace ringside {

/// How often a trigger has fired.
struct TriggerCount {
  std::uint64_t fired = 0;
  std::uint64_t first_iteration = 0;
  std::uint64_t last_iteration = 0;
};

class RunTriggers {
 public:
  /// Writes the values of a kept step of this run in the records' order; false if they cannot be found.
  using ValuesOf = std::function<bool(const KeptSlot& kept, std::span<std::uint64_t> values)>;

  /// triggers: those of a run with this layout. writer: the writer of the run's ring. Both must outlive this object.
  /// archive_bytes: see TriggerOptions.
  RunTriggers(TriggerSet& triggers, std::uint64_t archive_bytes, RingWriter& writer, SharedLayout layout)
      : triggers_(triggers), archive_bytes_(archive_bytes), writer_(writer), layout_(std::move(layout)) {}

  /// Call before the run begins in the ring. Finds out whether an earlier analyzer of this run froze the ring, reserves
  /// room for POOL.freeze, and makes or takes the archive. Throws Error: exit code 2 if a run would resume from a
  /// frozen ring, 3 if there is no room; otherwise as PoolArchive and read_freeze do.
  void admit(const RingOptions& ring, const Admission& admission, const OfferedRun& offered, PoolUse use,
             const Catalogue& catalogue);

  /// Call once the run has begun in the ring. newest: the step from which it continues, if any. Restores the states
  /// that the conditions had at this step and at its predecessor. An analyzer may have been killed before it handled
  /// the triggers of its newest step. Therefore its successor (kTakeover) performs the actions of these triggers,
  /// possibly a second time.
  void begin(RunStart start, const std::optional<KeptSlot>& newest, const ValuesOf& values_of, HandoffReader& producer);

  /// Evaluates the conditions of the newest commit and performs the actions of those that fire. values: the results of
  /// this commit, at the places that the layout gives them.
  StepMarks step(std::span<const std::uint64_t> values, const StepFigures& figures, HandoffReader& producer) noexcept;
  /// Does the same for a step that is not kept, because the ring is frozen: its reductions are absent.
  StepMarks step_not_kept(std::span<const std::uint64_t> values, const StepFigures& figures,
                          HandoffReader& producer) noexcept;

  /// If true, no slot of the ring may be overwritten.
  bool frozen() const noexcept { return freeze_.has_value(); }
  const std::optional<PoolFreeze>& freeze() const noexcept { return freeze_; }
  /// 0; or an errno value if a write failed, because of which the freeze ends with this process.
  int freeze_error() const noexcept { return freeze_error_; }
  /// Whether a trigger ends the run; what_stopped() describes that trigger.
  bool stops() const noexcept { return stopping_ != nullptr; }
  std::string what_stopped() const;
  /// commit_seq of the last finite step until it is overwritten; else 0.
  std::uint64_t guarded() const noexcept { return guarded_ ? last_finite_.commit_seq : 0; }

  const std::vector<TriggerSpec>& specs() const noexcept { return triggers_.specs(); }
  /// The counts of the triggers, in the order of specs().
  std::span<const TriggerCount> counts() const noexcept { return {counts_.data(), specs().size()}; }
  /// Null if no trigger keeps steps.
  const PoolArchive* archive() const noexcept { return archive_.get(); }
  /// The number of steps that a trigger should have kept and that are not in the archive.
  std::uint64_t not_archived() const noexcept { return (archive_ ? archive_->lost() : 0) + kept_too_late_; }

  /// at_begin: the marks that `begin` found and that an earlier analyzer may not have recorded. at_end (call it after
  /// `finish`): the archive's losses since the last step.
  struct Marked {
    StepMarks marks;
    StepFigures figures{};
  };
  const Marked& at_begin() const noexcept { return at_begin_; }
  Marked at_end() const noexcept;

  /// Call when the run has ended: waits for the archive. Returns why the archive's disk failed, or nothing.
  std::optional<Error> finish() noexcept { return archive_ ? archive_->finish() : std::nullopt; }

 private:
  struct Finite {
    std::uint64_t commit_seq = 0;  // 0: none exists
    std::uint64_t iteration = 0;
  };

  void find_last_finite(const KeptSlot& newest, const ValuesOf& values_of);
  void catch_up(RunStart start, const KeptSlot& newest, const ValuesOf& values_of, HandoffReader& producer);
  void act(StepMarks& marks, const StepFigures& figures, const RingWriter::Committed& step,
           HandoffReader& producer) noexcept;
  void guard_last_finite(const StepFigures& figures, StepMarks& marks) noexcept;
  void count(std::uint64_t fired, std::uint64_t iteration) noexcept;
  void reserve_freeze(RunStart start);
  int freeze_ring(const TriggerSpec& trigger, const StepFigures& figures) noexcept;
  const TriggerSpec& first_with(TriggerAction action, std::uint64_t fired) const noexcept;

  TriggerSet& triggers_;
  std::uint64_t archive_bytes_;
  RingWriter& writer_;
  SharedLayout layout_;
  std::string pool_;
  std::string pool_id_;
  std::unique_ptr<PoolArchive> archive_;
  std::optional<FreezeFile> freeze_file_;  // exists, with room reserved, if a trigger freezes the ring
  std::optional<PoolFreeze> freeze_;
  int freeze_error_ = 0;  // if this is not 0, the freeze ends with this process
  const TriggerSpec* stopping_ = nullptr;
  std::uint64_t stopping_iteration_ = 0;  // the iteration at which that trigger fired
  Finite last_finite_;
  bool guarded_ = false;
  std::uint64_t kept_too_late_ = 0;  // the number of steps that were to be kept after the freeze
  std::uint64_t lost_told_ = 0;
  Marked at_begin_;
  StepFigures last_{};
  std::array<TriggerCount, kMostTriggers + 1> counts_{};
};

}  // namespace ringside
