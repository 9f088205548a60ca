// SPDX-License-Identifier: BSD-3-Clause
// The triggers of one run: evaluated after each step, and what follows when one fires (docs/triggers.md). The main
// thread calls all functions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
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
  /// triggers: of a run with this layout; outlives this object. archive_bytes: as TriggerOptions.
  RunTriggers(TriggerSet& triggers, std::uint64_t archive_bytes, const SharedLayout& layout)
      : triggers_(triggers), archive_bytes_(archive_bytes), layout_(layout) {}

  /// The run has its ring, in which `writer` has begun it, and which outlives this object. Continues what an earlier analyzer
  /// of this run, or the run that is resumed, has left: the frozen ring, the guarded step, the archive. Throws Error:
  /// exit code 2 if the ring is frozen and the run would resume from it; else as PoolArchive.
  void begin(const RingOptions& ring, const Admission& admission, const OfferedRun& offered, PoolUse use,
             const Catalogue& catalogue, RingWriter& writer);

  /// Evaluates the conditions of the step that was committed last and does what those that fire ask for. values: its
  /// results, as the layout places them.
  StepMarks step(std::span<const std::uint64_t> values, const StepFigures& figures, HandoffReader& producer) noexcept;

  /// The same of a step that is not kept, because the ring is frozen: its reductions are absent, and it cannot be kept.
  StepMarks step_not_kept(std::span<const std::uint64_t> values, const StepFigures& figures,
                          HandoffReader& producer) noexcept;

  /// Nothing in the ring may be overwritten.
  bool frozen() const noexcept { return freeze_.has_value(); }
  const std::optional<PoolFreeze>& freeze() const noexcept { return freeze_; }
  /// The trigger that has asked for the end of the run.
  const TriggerSpec* stopping() const noexcept { return stopping_; }
  /// commit_seq of the last finite step, while it is not overwritten; else 0.
  std::uint64_t guarded() const noexcept { return guarded_ ? last_finite_.commit_seq : 0; }

  const std::vector<TriggerSpec>& specs() const noexcept { return triggers_.specs(); }
  /// In the order of specs().
  std::span<const TriggerCount> counts() const noexcept { return {counts_.data(), specs().size()}; }
  /// Null: no trigger keeps steps.
  const PoolArchive* archive() const noexcept { return archive_.get(); }

  /// The run is over: waits for the archive. Returns why its disk failed, or nothing.
  std::optional<Error> finish() noexcept { return archive_ ? archive_->finish() : std::nullopt; }

 private:
  struct Finite {
    std::uint64_t commit_seq = 0;  // 0: none is known
    std::uint64_t iteration = 0;
  };

  void find_last_finite(const Admission& admission);
  void act(StepMarks& marks, const StepFigures& figures, HandoffReader& producer) noexcept;
  void guard_last_finite(const StepFigures& figures, StepMarks& marks) noexcept;
  void count(std::uint64_t fired, std::uint64_t iteration) noexcept;
  int freeze_ring(const TriggerSpec& trigger, const StepFigures& figures) noexcept;
  const TriggerSpec& first_with(TriggerAction action, std::uint64_t fired) const noexcept;

  TriggerSet& triggers_;
  std::uint64_t archive_bytes_;
  SharedLayout layout_;
  std::string pool_;
  std::string pool_id_;
  RingWriter* writer_ = nullptr;
  std::unique_ptr<PoolArchive> archive_;
  std::optional<PoolFreeze> freeze_;
  const TriggerSpec* stopping_ = nullptr;
  Finite last_finite_;
  bool guarded_ = false;
  std::uint64_t lost_told_ = 0;
  std::array<TriggerCount, kMostTriggers + 1> counts_{};
};

}  // namespace ringside
