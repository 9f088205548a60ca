// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/triggers/run_triggers.hpp"

#include <bit>
#include <cerrno>
#include <exception>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/program/log.hpp"

namespace ringside {

void RunTriggers::admit(const RingOptions& ring, const Admission& admission, const OfferedRun& offered, PoolUse use,
                        const Catalogue& catalogue) {
  pool_ = ring.pool;
  pool_id_ = to_string(writer_.ring().geometry().pool_id);
  if (admission.start == RunStart::kTakeover || admission.start == RunStart::kResume) {
    freeze_ = freeze_of(pool_, writer_.ring().geometry().pool_id, admission.run.run_id);
    if (freeze_ && admission.start == RunStart::kResume) {
      throw usage_error(
          "{}: --resume: the ring has been frozen since iteration {} (trigger '{}'), so no step in it is overwritten; "
          "export the steps that you need, then run `ringside thaw {}` to let the run continue",
          pool_, freeze_->iteration, freeze_->trigger, pool_);
    }
  }
  std::uint32_t actions = 0;
  for (const TriggerSpec& spec : specs()) actions |= spec.actions;
  if ((actions & kFreeze) != 0 && !frozen()) reserve_freeze(admission.start);
  if ((actions & kKeep) == 0) return;
  archive_ = std::make_unique<PoolArchive>(ring, archive_bytes_, offered, use, catalogue, writer_);
}

/// Reserves room for POOL.freeze. If there is no room, a new run is refused, but a run that was taken over continues.
void RunTriggers::reserve_freeze(RunStart start) {
  freeze_file_.emplace(pool_);
  if (freeze_file_->error() == 0) return;
  const std::string why = formatted("{}: no room for this file ({}), which a trigger needs to freeze the ring",
                                    freeze_path(pool_), errno_text(freeze_file_->error()));
  if (start != RunStart::kTakeover) throw system_error("{}: free some space, or use another --pool", why);
  log_warning("event=freeze_without_room pool={} text=\"{}\"", pool_, why);
}

void RunTriggers::begin(RunStart start, const std::optional<KeptSlot>& newest, const ValuesOf& values_of,
                        HandoffReader& producer) {
  if (start != RunStart::kTakeover && start != RunStart::kResume) {
    remove_freeze(pool_);  // the frozen iterates were discarded, or their pool no longer exists
  }
  if (!newest) return;
  find_last_finite(*newest, values_of);
  if (!frozen()) catch_up(start, *newest, values_of, producer);
}

/// If the newest kept steps of the run are not finite: guards the last finite step before them again. newest: the
/// newest intact step.
void RunTriggers::find_last_finite(const KeptSlot& newest, const ValuesOf& values_of) {
  if (!triggers_.guards_finite()) return;
  const Recovery found = recover(writer_.ring());
  std::vector<std::uint64_t> values(layout_->words());
  bool newer_are_not = false;
  for (auto kept = found.kept.rbegin(); kept != found.kept.rend(); ++kept) {
    if (kept->header.commit_seq > newest.header.commit_seq) continue;
    if (kept->header.run_id != newest.header.run_id) return;
    if (!values_of(*kept, values)) continue;
    if (triggers_.non_finite_in(values)) {
      newer_are_not = true;
      continue;
    }
    last_finite_ = {kept->header.commit_seq, kept->header.iteration};
    guarded_ = newer_are_not && writer_.guard(last_finite_.commit_seq);
    return;
  }
}

void RunTriggers::catch_up(RunStart start, const KeptSlot& newest, const ValuesOf& values_of,
                           HandoffReader& producer) {
  std::vector<std::uint64_t> values(layout_->words());
  const auto figures_of = [this](const KeptSlot& kept) {
    StepFigures figures{};
    figures.run_id = kept.header.run_id;
    figures.step = writer_.ring().step(kept.slot).descriptor;
    figures.commit_seq = kept.header.commit_seq;
    return figures;
  };
  for (const KeptSlot& kept : recover(writer_.ring()).kept) {
    const bool is_before = kept.header.commit_seq + 1 == newest.header.commit_seq;
    if (is_before && kept.header.run_id == newest.header.run_id && values_of(kept, values)) {
      triggers_.evaluate(values, figures_of(kept));
    }
  }
  if (!values_of(newest, values)) return;
  at_begin_.figures = figures_of(newest);
  StepMarks marks = triggers_.evaluate(values, at_begin_.figures);
  if (start != RunStart::kTakeover || marks.fired == 0) return;
  marks.non_finite = triggers_.non_finite_count();
  if (guarded_) marks.last_finite_iteration = last_finite_.iteration;
  act(marks, at_begin_.figures, {newest.slot, newest.header}, producer);
  at_begin_.marks = marks;
}

StepMarks RunTriggers::step(std::span<const std::uint64_t> values, const StepFigures& figures,
                            HandoffReader& producer) noexcept {
  StepMarks marks = triggers_.evaluate(values, figures);
  last_ = figures;
  guard_last_finite(figures, marks);
  if (archive_) {
    const std::uint64_t lost = archive_->lost();
    marks.not_archived = lost - lost_told_;
    lost_told_ = lost;
  }
  if (marks.fired != 0) act(marks, figures, writer_.newest(), producer);
  return marks;
}

StepMarks RunTriggers::step_not_kept(std::span<const std::uint64_t> values, const StepFigures& figures,
                                     HandoffReader& producer) noexcept {
  StepMarks marks = triggers_.evaluate(values, figures);
  last_ = figures;
  if (marks.fired != 0) act(marks, figures, {}, producer);
  return marks;
}

/// Performs the actions of the triggers that fired at a step. step: the step's place in the ring, which is not used
/// once the ring is frozen.
void RunTriggers::act(StepMarks& marks, const StepFigures& figures, const RingWriter::Committed& step,
                      HandoffReader& producer) noexcept {
  count(marks.fired, figures.step.iteration);
  const std::uint32_t actions = triggers_.actions_of(marks.fired);
  const bool was_frozen = frozen();
  if ((actions & kFreeze) != 0 && !was_frozen) {
    marks.freeze_error = freeze_ring(first_with(kFreeze, marks.fired), figures);
  }
  if ((actions & kKeep) != 0 && was_frozen) {
    ++kept_too_late_;
    ++marks.not_archived;
  } else if ((actions & kKeep) != 0) {
    archive_->keep(step);
  }
  if (const std::optional<double> reply = triggers_.reply_of(marks.fired)) producer.reply(*reply);
  if ((actions & kStop) == 0 || stops()) return;
  stopping_ = &first_with(kStop, marks.fired);
  stopping_iteration_ = figures.step.iteration;
}

std::string RunTriggers::what_stopped() const {
  if (stopping_ == nullptr) return "a trigger of an earlier analyzer";
  return formatted("the trigger '{}', which fired at iteration {},", stopping_->name, stopping_iteration_);
}

RunTriggers::Marked RunTriggers::at_end() const noexcept {
  Marked marked{.marks = {}, .figures = last_};
  if (archive_) marked.marks.not_archived = archive_->lost() - lost_told_;
  return marked;
}

/// The last finite step stays in the ring until a later step is finite.
void RunTriggers::guard_last_finite(const StepFigures& figures, StepMarks& marks) noexcept {
  if (!triggers_.guards_finite()) return;
  if (!triggers_.non_finite()) {
    last_finite_ = {figures.commit_seq, figures.step.iteration};
    if (guarded_) writer_.guard(std::nullopt);
    guarded_ = false;
    return;
  }
  if (!guarded_ && last_finite_.commit_seq != 0) guarded_ = writer_.guard(last_finite_.commit_seq);
  marks.non_finite = triggers_.non_finite_count();
  if (guarded_) marks.last_finite_iteration = last_finite_.iteration;
}

void RunTriggers::count(std::uint64_t fired, std::uint64_t iteration) noexcept {
  for (std::uint64_t bits = fired; bits != 0; bits &= bits - 1) {
    TriggerCount& one = counts_[static_cast<std::size_t>(std::countr_zero(bits))];
    if (one.fired++ == 0) one.first_iteration = iteration;
    one.last_iteration = iteration;
  }
}

/// Returns 0 if the freeze will last longer than this process; otherwise returns an errno value.
int RunTriggers::freeze_ring(const TriggerSpec& trigger, const StepFigures& figures) noexcept try {
  writer_.end_lease();  // the disk may be slow, and a frozen ring's leases are left to readers
  freeze_ = PoolFreeze{.pool_id = pool_id_,
                       .run_id = to_string(figures.run_id),
                       .iteration = figures.step.iteration,
                       .step = figures.step.step,
                       .commit_seq = figures.commit_seq,
                       .trigger = trigger.name,
                       .unix_ns = realtime_ns()};
  if (!freeze_file_ || freeze_file_->error() != 0) freeze_file_.emplace(pool_);  // after `thaw`, or once room is free
  const int error = freeze_error_ = freeze_file_->write(*freeze_);
  freeze_file_.reset();
  if (error == 0) {
    log_warning("event=frozen pool={} text=\"the ring of {} has been frozen since iteration {} (trigger '{}')\"", pool_,
                pool_, freeze_->iteration, trigger.name);
  } else {
    log_error(
        "event=freeze_not_written pool={} iteration={} text=\"the ring of {} has been frozen since iteration {} "
        "(trigger '{}') only until this run ends, because {} cannot be written ({}): the next run in this pool "
        "overwrites the ring's steps; copy or export them first\"",
        pool_, freeze_->iteration, pool_, freeze_->iteration, trigger.name, freeze_path(pool_), errno_text(error));
  }
  return error;
} catch (const std::exception&) {  // no memory: the ring is frozen nevertheless
  if (!freeze_) freeze_.emplace();
  return freeze_error_ = ENOMEM;
}

const TriggerSpec& RunTriggers::first_with(TriggerAction action, std::uint64_t fired) const noexcept {
  std::size_t t = 0;
  while ((fired >> t & 1) == 0 || (specs()[t].actions & action) == 0) ++t;
  return specs()[t];
}

}  // namespace ringside
