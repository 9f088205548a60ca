// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/triggers/run_triggers.hpp"

#include <spdlog/spdlog.h>

#include <bit>
#include <cerrno>
#include <exception>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"

namespace ringside {

void RunTriggers::begin(const RingOptions& ring, const Admission& admission, const OfferedRun& offered, PoolUse use,
                        const Catalogue& catalogue, RingWriter& writer) {
  pool_ = ring.pool;
  pool_id_ = to_string(writer.ring().geometry().pool_id);
  writer_ = &writer;
  const bool continues = admission.start == RunStart::kTakeover || admission.start == RunStart::kResume;
  if (continues) {
    freeze_ = freeze_of(pool_, writer.ring().geometry().pool_id, admission.run.run_id);
    if (freeze_ && admission.start == RunStart::kResume) {
      throw usage_error(
          "{}: --resume: the ring is frozen since iteration {} (trigger '{}'), nothing in it is overwritten; export what "
          "you need, then `ringside thaw {}` lets the run continue",
          pool_, freeze_->iteration, freeze_->trigger, pool_);
    }
    find_last_finite(admission);
  } else {
    remove_freeze(pool_);  // of iterates that are discarded, or of a pool that is gone
  }
  std::uint32_t actions = 0;
  for (const TriggerSpec& spec : specs()) actions |= spec.actions;
  if ((actions & kKeep) == 0) return;
  archive_ = std::make_unique<PoolArchive>(ring, archive_bytes_, offered, use, catalogue, writer);
}

/// The newest kept steps may be those of a run that has lost its numbers: the last finite one before them is guarded
/// again.
void RunTriggers::find_last_finite(const Admission& admission) {
  if (!triggers_.guards_finite()) return;
  const RingView& ring = writer_->ring();
  const Recovery found = recover(ring);
  std::vector<std::uint64_t> values(layout_->words());
  bool newer_are_not = false;
  for (auto kept = found.kept.rbegin(); kept != found.kept.rend(); ++kept) {
    SlotResults recorded;
    if (kept->header.run_id != admission.run.run_id) return;
    if (ring.results(kept->slot, kept->header, recorded) != ResultsState::kRecorded ||
        recorded.catalogue_hash != layout_->hash()) {
      continue;  // not reduced: not known
    }
    layout_->gather(recorded.words, nullptr, values);
    if (triggers_.non_finite_in(values)) {
      newer_are_not = true;
      continue;
    }
    last_finite_ = {kept->header.commit_seq, kept->header.iteration};
    guarded_ = newer_are_not;
    if (guarded_) writer_->guard(last_finite_.commit_seq);
    return;
  }
}

StepMarks RunTriggers::step(std::span<const std::uint64_t> values, const StepFigures& figures,
                            HandoffReader& producer) noexcept {
  StepMarks marks = triggers_.evaluate(values, figures);
  guard_last_finite(figures, marks);
  if (archive_) {
    const std::uint64_t lost = archive_->lost();
    marks.not_archived = lost - lost_told_;
    lost_told_ = lost;
  }
  if (marks.fired == 0) return marks;
  const std::uint32_t actions = triggers_.actions_of(marks.fired);
  if ((actions & kFreeze) != 0) marks.freeze_error = freeze_ring(first_with(kFreeze, marks.fired), figures);
  if ((actions & kKeep) != 0) archive_->keep_newest();
  act(marks, figures, producer);
  return marks;
}

StepMarks RunTriggers::step_not_kept(std::span<const std::uint64_t> values, const StepFigures& figures,
                                     HandoffReader& producer) noexcept {
  StepMarks marks = triggers_.evaluate(values, figures);
  if (marks.fired == 0) return marks;
  if ((triggers_.actions_of(marks.fired) & kKeep) != 0) marks.not_archived = 1;
  act(marks, figures, producer);
  return marks;
}

/// Whatever the ring has to do with it: counts, answers the producer, asks for the end of the run.
void RunTriggers::act(StepMarks& marks, const StepFigures& figures, HandoffReader& producer) noexcept {
  count(marks.fired, figures.step.iteration);
  if (const std::optional<double> reply = triggers_.reply_of(marks.fired)) producer.reply(*reply);
  const bool stops = (triggers_.actions_of(marks.fired) & kStop) != 0;
  if (stops && stopping_ == nullptr) stopping_ = &first_with(kStop, marks.fired);
}

/// The last finite step stays in the ring as long as no later one is finite.
void RunTriggers::guard_last_finite(const StepFigures& figures, StepMarks& marks) noexcept {
  if (!triggers_.guards_finite()) return;
  if (!triggers_.non_finite()) {
    last_finite_ = {figures.commit_seq, figures.step.iteration};
    if (guarded_) writer_->guard(std::nullopt);
    guarded_ = false;
    return;
  }
  if (!guarded_ && last_finite_.commit_seq != 0) {
    writer_->guard(last_finite_.commit_seq);
    guarded_ = true;
  }
  marks.non_finite = triggers_.non_finite_count();
  marks.last_finite_iteration = last_finite_.iteration;
}

void RunTriggers::count(std::uint64_t fired, std::uint64_t iteration) noexcept {
  for (std::uint64_t bits = fired; bits != 0; bits &= bits - 1) {
    TriggerCount& one = counts_[static_cast<std::size_t>(std::countr_zero(bits))];
    if (one.fired++ == 0) one.first_iteration = iteration;
    one.last_iteration = iteration;
  }
}

/// Returns 0 if the freeze also outlives this process, or an errno value.
int RunTriggers::freeze_ring(const TriggerSpec& trigger, const StepFigures& figures) noexcept try {
  freeze_ = PoolFreeze{.pool_id = pool_id_,
                       .run_id = to_string(figures.run_id),
                       .iteration = figures.step.iteration,
                       .step = figures.step.step,
                       .commit_seq = figures.commit_seq,
                       .trigger = trigger.name,
                       .unix_ns = realtime_ns()};
  const int error = write_freeze(pool_, *freeze_);
  if (error == 0) {
    spdlog::warn("event=frozen pool={} iteration={} trigger=\"{}\"", pool_, freeze_->iteration, trigger.name);
  } else {
    spdlog::error("event=freeze_not_written pool={} iteration={} text=\"{}{}: {}\"", pool_, freeze_->iteration, pool_,
                  kFreezeSuffix, errno_text(error));
  }
  return error;
} catch (const std::exception&) {  // no memory: the ring is frozen even so
  if (!freeze_) freeze_.emplace();
  return ENOMEM;
}

const TriggerSpec& RunTriggers::first_with(TriggerAction action, std::uint64_t fired) const noexcept {
  std::size_t t = 0;
  while ((fired >> t & 1) == 0 || (specs()[t].actions & action) == 0) ++t;
  return specs()[t];
}

}  // namespace ringside
