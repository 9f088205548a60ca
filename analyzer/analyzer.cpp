// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/analyzer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <utility>

#include "analyzer/recorder/mark_records.hpp"
#include "analyzer/ring/kept_results.hpp"
#include "common/files/beside_pool.hpp"
#include "common/platform/clock.hpp"
#include "common/ranks/ranks_file.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/ring/storage.hpp"
#include "common/threads/elastic_team.hpp"
#include "common/threads/openmp_team.hpp"

namespace ringside {
namespace {

void add(std::atomic<std::int64_t>& figure, std::int64_t ns) noexcept {
  figure.store(figure.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
}

/// The time at which the producer began its work on a published step.
std::int64_t begun_ns(const StepDescriptor& step) noexcept {
  return step.published_at_ns - step.generate_ns - step.producer_idle_ns;
}

/// Returns a team that also uses the producer's cores while these wait, if cores are elastic and the analyzer has its
/// own cores. Otherwise returns an OpenMP team.
std::unique_ptr<Team> make_team(HandoffReader& handoff, const std::vector<int>& cores, AnalyzerAccount& account) {
  if (!handoff.elastic() || cores.empty()) return std::make_unique<OpenMpTeam>();
  return std::make_unique<ElasticTeam>(cores, handoff.producer_cores(), account.producer_cores_lent_ns);
}

/// A solver may publish any scalars, or none.
bool begins_with_change(std::span<const Scalar> scalars) {
  return scalars.size() >= 2 && scalars[0].name == "residual_l1" && scalars[1].name == "residual_linf";
}

}  // namespace

Attachment::Attachment(HandoffReader& handoff, const AnalyzerOptions& options, PlugInSet& plug_ins,
                       AnalyzerAccount& account, RecordQueue* records, Pulse& pulse)
    : handoff_(handoff),
      options_(options),
      account_(account),
      records_(records),
      pulse_(pulse),
      plug_ins_(plug_ins),
      plug_in_lines_(plug_ins.begin_run(handoff.run().run_id)),
      catalogue_(catalogue_of(handoff.schema(), handoff.scalars(), plug_ins.descriptions())),
      team_(make_team(handoff, options.cores, account)),
      reducer_(handoff.schema(), *team_, &plug_ins),
      layout_(std::make_shared<const RecordLayout>(handoff.schema(), catalogue_)),
      conditions_(parse_triggers(options.triggers.triggers, options.triggers.on_non_finite), layout_),
      admission_(admit(options.ring, {handoff.run(), handoff.schema(), handoff.scalars(), plug_ins.descriptions()},
                       handoff.pool_use())),
      ring_(pool().ring(), pool().persistence(), pool().storage(), options.ring.durability),
      triggers_(conditions_, options.triggers.archive_bytes, ring_, layout_),
      reduction_(options.reduce.at, options.planned) {
  account_.publisher.has_change = begins_with_change(handoff.scalars());
  ring_.share_among(*team_);
  values_.resize(layout_->words());
  passed_values_.resize(layout_->words());
  ring_.respect(pool().leases());
  kept_steps_ = std::move(admission_.replaced_steps);
  const std::vector<RecordedStep> kept = kept_steps(pool().ring());
  kept_steps_.insert(kept_steps_.end(), kept.begin(), kept.end());
  if (start() == RunStart::kResume) {
    const std::uint64_t payload_bytes = handoff.schema().payload_bytes();
    continuation_.kept = SharedMapping::create(
        "ringside-resume", kept_scalars_offset(payload_bytes) + sizeof(KeptScalars), PeerAccess::kReadOnly);
  }
  // The triggers are admitted before any store to the ring: if they are refused, the pool must keep its iterates.
  triggers_.admit(options.ring, admission_, {run(), handoff.schema(), handoff.scalars(), plug_ins.descriptions()},
                  handoff.pool_use(), catalogue_);
  keep_ranks();
  const Recovery found = recover(pool().ring());
  const std::optional<KeptSlot> newest = begin_run();
  if (newest && newest->header.run_id == run().run_id) continue_from(*newest, found);
  if (start() == RunStart::kResume && !continuation_.last) {
    throw damage_error("{}: --resume: every kept iterate is damaged; `ringside verify` lists the damage",
                       options.ring.pool);
  }
  triggers_.begin(
      start(), newest && newest->header.run_id == run().run_id ? newest : std::nullopt,
      [this](const KeptSlot& step, std::span<std::uint64_t> values) { return values_of(step, values); }, handoff);
  // A file on a disk under `power` is not faulted in: every page would become dirty, and the first sync would write the
  // whole ring. If a run continues, its ring is not faulted in either: the disk would have to read it while the
  // producer waits.
  const bool begins = start() == RunStart::kEmpty || start() == RunStart::kCleared;
  const bool quiet = !needs_sync(pool().storage(), options.ring.durability) || pool().persistence().syncs_at_once();
  if (begins && quiet) pool().prefault();
  pool().survive_faults();
}

/// Before the first commit, writes a file beside the pool that lists the entries of the whole run that each node keeps.
/// If a run without ranks begins anew, removes the file that an earlier run left.
void Attachment::keep_ranks() {
  const bool begins = start() == RunStart::kEmpty || start() == RunStart::kCleared;
  if (handoff_.ranks().empty()) {
    if (begins) remove_ranks(options_.ring.pool);
    return;
  }
  ranks_ = parse_ranks(handoff_.ranks(), "the ranks file of the attach request");
  ranks_->run_id = run().run_id;  // a resumed run keeps its run_id; its ranks attached with a new run_id
  ranks_->nodes[ranks_->node].pool = absolute_path(options_.ring.pool);
  RanksFile file = *ranks_;
  file.round.reset();
  write_ranks(options_.ring.pool, file);
}

/// Returns the newest intact kept iterate. Adds the file's name to errors, because the ring does not contain that name.
std::optional<KeptSlot> Attachment::begin_run() try {
  if (start() == RunStart::kCleared) ring_.clear();
  const std::uint64_t from = start() == RunStart::kResume ? handoff_.resume_from() : 0;
  return ring_.begin_run(run(), catalogue_, continuation_.kept.data(), from);
} catch (const Error& error) {
  throw Error(error.code(), fmt::format("{}: {}", options_.ring.pool, error.what()));
}

void Attachment::continue_from(const KeptSlot& newest, const Recovery& found) {
  continuation_.last = pool().ring().step(newest.slot);
  account_.last_iteration.store(newest.header.iteration);
  account_.publisher.set_change(continuation_.last->descriptor);
  has_last_ = recorded_values(newest, values_) == Recorded::kYes;
  if (start() != RunStart::kResume) return;
  describe_kept_scalars(scalars_of(newest));
  continuation_.resumed = run().run_id;
  if (newest.header.iteration != found.newest_iteration()) {
    continuation_.note = fmt::format("{}: iteration {} is damaged; the run continues from {}, the newest intact one",
                                     options_.ring.pool, found.newest_iteration(), newest.header.iteration);
  } else if (!found.damaged.empty()) {
    continuation_.note = fmt::format(
        "{}: the headers of {} slots are damaged; one of them may have held a newer iterate than iteration {}, from "
        "which the run continues",
        options_.ring.pool, found.damaged.size(), newest.header.iteration);
  }
}

/// Returns the recorded results of a kept step, in the order of the records.
Attachment::Recorded Attachment::recorded_values(const KeptSlot& kept, std::span<std::uint64_t> values) const {
  const RingView& ring = pool().ring();
  SlotResults recorded;
  if (ring.results(kept.slot, kept.header, recorded) != ResultsState::kRecorded) return Recorded::kNo;
  if (recorded.catalogue_hash != layout_->hash() || recorded.words.size() != catalogue_.words()) {
    return Recorded::kOfAnotherCatalogue;
  }
  const StepWithScalars step = ring.step(kept.slot);
  layout_->gather(recorded.words, &step, values);
  return Recorded::kYes;
}

/// Writes the results of a kept step in the order of the records. If the analyzer died after the commit and before it
/// stored the results, the step is reduced again. Returns false if the values cannot be found.
bool Attachment::values_of(const KeptSlot& kept, std::span<std::uint64_t> values) {
  const Recorded recorded = recorded_values(kept, values);
  if (recorded != Recorded::kNo) return recorded == Recorded::kYes;
  if (!plug_ins_.plug_ins().empty()) return false;  // no plug-in runs here: one may have killed the analyzer
  const StepWithScalars step = pool().ring().step(kept.slot);
  layout_->gather(reducer_.reduce(pool().ring().payload(kept.slot), nullptr, 1), &step, values);
  return true;
}

/// The number of scalars of a kept step, from the catalogue with which it was committed. If that catalogue is lost, it
/// is the smallest number in any description of the step's run, because an absent scalar must not be read as 0.
std::size_t Attachment::scalars_of(const KeptSlot& kept) const {
  const RingView& ring = pool().ring();
  SlotResults recorded;
  if (ring.results(kept.slot, kept.header, recorded) == ResultsState::kRecorded) {
    const auto catalogue = ring.catalogue(kept.header.run_id, recorded.catalogue_hash);
    if (catalogue) return catalogue->scalars().size();
  }
  std::size_t fewest = kMostScalars;
  for (const RunReading& reading : ring.runs()) {
    if (reading.run.run_id != kept.header.run_id) continue;
    const auto is_scalar = [](const ResultDescription& one) { return one.source == ResultSource::kScalar; };
    const auto scalars = std::count_if(reading.catalogue.begin(), reading.catalogue.end(), is_scalar);
    fewest = std::min(fewest, static_cast<std::size_t>(scalars));
  }
  return fewest;
}

/// Describes the scalars of the kept step, which follow its variables. The admission has checked that scalars which
/// both runs have are in the same order.
void Attachment::describe_kept_scalars(std::size_t of_step) noexcept {
  KeptScalars scalars;
  const std::size_t known = std::min(of_step, handoff_.scalars().size());
  for (std::size_t s = 0; s < known; ++s) {
    scalars.present |= std::uint64_t{1} << s;
    scalars.words[s] = continuation_.last->scalar(s);
  }
  std::memcpy(continuation_.kept.data() + kept_scalars_offset(handoff_.schema().payload_bytes()), &scalars,
              sizeof scalars);
}

ServeEnd Attachment::serve(std::atomic<bool>& stop) noexcept {
  steps_before_ = handoff_.steps_released();
  if (triggers_.frozen()) {  // an earlier analyzer froze the ring: steps released afterwards were not kept
    const std::uint64_t kept = std::min(steps_before_, triggers_.freeze()->step + 1);
    account_.steps_not_kept.store(steps_before_ - kept);
    steps_before_ = kept;
  }
  account_.steps_committed.store(steps_before_);
  count_persisted();
  if (triggers_.stops() || handoff_.run_ends()) end_run(stop);
  bool first = true;
  PublishedStep step;
  for (std::int64_t idle_since = now_ns();;) {
    const NextStatus status = handoff_.next(step, options_.may_spin, &stop, &pulse_);
    if (status == NextStatus::kStep) {
      if (std::exchange(first, false)) idle_since = begin_account(idle_since, begun_ns(step.step.descriptor));
      if (triggers_.frozen()) {
        pass_over(step, step.arrived_ns - idle_since);
      } else if (!keep(step, step.arrived_ns - idle_since)) {
        ring_.end_lease();
        return ServeEnd::kSyncFailed;
      }
      if (triggers_.stops()) end_run(stop);
      idle_since = end_step();
      continue;
    }
    ring_.end_lease();  // a step that waits when the run stops is not taken, so that a window may still be open
    switch (status) {
      case NextStatus::kDetached: return ServeEnd::kDetached;
      case NextStatus::kStopped: return ServeEnd::kStopped;
      case NextStatus::kViolation: return ServeEnd::kViolation;
      case NextStatus::kProducerStopped: return ServeEnd::kProducerStopped;
      default: return ServeEnd::kProducerLost;
    }
  }
}

/// The account begins with the first iteration, not with the solver's preparations. The work that this analyzer has
/// done for the attachment since then counts as `record`. The time between the loss of an analyzer and the start of its
/// successor is in no account. Returns the time at which the analyzer began to wait.
std::int64_t Attachment::begin_account(std::int64_t serving_since_ns, std::int64_t begun_ns) noexcept {
  if (serving_since_ns <= begun_ns) return begun_ns;
  if (start() != RunStart::kTakeover) {
    recorded_ns_ = serving_since_ns - begun_ns;
    add(account_.record_ns, recorded_ns_);
  }
  return serving_since_ns;
}

/// Ends the run because a trigger requires it. Steps that have already been published are still received.
void Attachment::end_run(std::atomic<bool>& stop) noexcept {
  triggered_ = true;
  handoff_.end_run();
  stop.store(true, std::memory_order_relaxed);
}

// The path of an iterate: shared buffer -> slot (transfer), header (commit), reductions (analyze). Bytes moved: the
// copy reads and writes the iterate once. Each sweep of the reductions reads the iterate once, and the first sweep also
// reads the previous iterate. With `--reduce transfer` the first sweep is part of the copy, and its time counts as
// transfer.
bool Attachment::keep(const PublishedStep& step, std::int64_t idle_ns) noexcept {
  const ReduceOptions& reduce = options_.reduce;
  const bool on_the_way = reduction_.at() == ReduceAt::kTransfer;
  if (ring_.begin() != CommitStatus::kOk) return false;
  const std::int64_t copy_begin = now_ns();
  ring_.copy(step.payload, step.step, on_the_way ? &reducer_ : nullptr);
  const std::int64_t copied = now_ns();
  if (ring_.commit() != CommitStatus::kOk) return false;
  handoff_.release();  // only after the commit: now the buffer is not needed again, even if the analyzer dies
  if (handoff_.step_waits()) {
    ring_.end_lease_before_step(copied);
  } else {
    ring_.end_lease();
  }
  const std::int64_t committed = now_ns();
  const std::span<const std::uint64_t> results =
      on_the_way ? reducer_.finish(ring_.payload(), reduce.passes)
                 : reducer_.reduce(ring_.payload(), ring_.previous_payload(), reduce.passes);
  if (rounds_ != nullptr) rounds_->prepare(step.step, reducer_, results, ring_.payload(), ring_.previous_payload());
  if (pool().persistence().store_error() != 0) {  // a lost page reads as zeros, not as the iterate
    account_.steps_committed.store(steps_before_ + ring_.run_committed(), std::memory_order_relaxed);
    return false;
  }
  layout_->gather(results, &step.step, values_);
  has_last_ = true;
  ring_.store_results(results);
  const std::int64_t reduced = now_ns();

  StepFigures figures{.run_id = run().run_id,
                      .step = step.step.descriptor,
                      .commit_seq = ring_.committed(),
                      .analyzer_idle_ns = idle_ns,
                      .hand_off_ns = copy_begin - step.step.descriptor.published_at_ns,
                      .transfer_ns = copied - copy_begin,
                      .commit_ns = (copy_begin - step.arrived_ns) + (committed - copied),
                      .analyze_ns = reduced - committed,
                      .record_ns = std::exchange(recorded_ns_, 0),
                      .bytes_transferred = pool().ring().geometry().payload_bytes(),
                      .broke_lease = ring_.leases_broken() > account_.leases_broken.load(std::memory_order_relaxed)};
  const StepMarks marks = triggers_.step(values_, figures, handoff_);
  figures.guarded_commit_seq = triggers_.guarded();
  // Without triggers, nothing that takes long has happened since.
  const std::int64_t analyzed = triggers_.specs().empty() ? reduced : now_ns();
  figures.analyze_ns = analyzed - committed;
  count(figures, analyzed);
  reduction_.step_ended(analyzed);
  if (rounds_ != nullptr) rounds_->add(figures);
  if (records_ != nullptr && records_->is_full()) ring_.end_lease();  // `push` may wait, and readers need not
  if (records_ != nullptr && !records_->push(figures, values_, marks)) record_marks(marks, figures);
  pulse_.beat(analyzed);
  if (triggers_.frozen()) {
    ring_.end_lease();  // a frozen ring's leases are left to readers
  } else if (handoff_.step_waits()) {
    ring_.choose_before_step(analyzed);
  } else {
    ring_.choose_next();
  }
  return true;
}

/// All work after a step's figures were taken counts as `record`, so each nanosecond of the account is in one column.
/// Returns the time at which the analyzer began to wait.
std::int64_t Attachment::end_step() noexcept {
  const std::int64_t ended = now_ns();
  recorded_ns_ = ended - account_.ended_ns.load(std::memory_order_relaxed);
  add(account_.record_ns, recorded_ns_);
  account_.ended_ns.store(ended, std::memory_order_relaxed);
  return ended;
}

/// The ring is frozen: the buffer is released without a copy, and the solver continues. All this work counts as
/// `record`.
void Attachment::pass_over(const PublishedStep& step, std::int64_t idle_ns) noexcept {
  handoff_.release();
  if (rounds_ != nullptr) rounds_->pass_over();
  const std::int64_t passed = now_ns();
  account_.publisher.add(step.step.descriptor);
  add(account_.analyzer_idle_ns, idle_ns);
  account_.steps_not_kept.fetch_add(1, std::memory_order_relaxed);
  account_.ended_ns.store(step.arrived_ns, std::memory_order_relaxed);
  count_persisted();
  pulse_.beat(passed);

  layout_->gather({}, &step.step, passed_values_);
  const StepFigures figures{.run_id = run().run_id, .step = step.step.descriptor, .analyzer_idle_ns = idle_ns};
  const StepMarks marks = triggers_.step_not_kept(passed_values_, figures, handoff_);
  record_marks(marks, figures);
}

/// Records the marks of a step whose record is lost or does not exist. This allocates memory, which is acceptable
/// because the case is rare and no buffer waits for it.
void Attachment::record_marks(const StepMarks& marks, const StepFigures& figures) noexcept {
  if (records_ == nullptr || !marks.any()) return;
  try {
    for (wire::Record& mark : mark_records(marks, figures, triggers_.specs())) records_->push_event(std::move(mark));
  } catch (const std::exception&) {  // no memory: the mark is lost
  }
}

/// Adds a step to the account, and writes the account's new totals into the step's figures.
void Attachment::count(StepFigures& figures, std::int64_t ended_ns) noexcept {
  account_.hand_off.add(figures.hand_off_ns);
  account_.publisher.add(figures.step);
  add(account_.analyzer_idle_ns, figures.analyzer_idle_ns);
  add(account_.transfer_ns, figures.transfer_ns);
  add(account_.commit_ns, figures.commit_ns);
  add(account_.analyze_ns, figures.analyze_ns);
  account_.bytes_transferred.store(
      account_.bytes_transferred.load(std::memory_order_relaxed) + figures.bytes_transferred,
      std::memory_order_relaxed);
  account_.leases_broken.store(ring_.leases_broken(), std::memory_order_relaxed);
  account_.last_iteration.store(figures.step.iteration, std::memory_order_relaxed);
  account_.steps_committed.store(steps_before_ + ring_.run_committed(), std::memory_order_relaxed);
  account_.ended_ns.store(ended_ns, std::memory_order_relaxed);
  count_persisted();
  figures.steps_committed = account_.steps_committed.load(std::memory_order_relaxed);
  figures.steps_persisted = account_.steps_persisted.load(std::memory_order_relaxed);
}

void Attachment::count_persisted() noexcept {
  // begin_run has persisted everything that the ring held when the run began.
  const bool counts = options_.ring.durability == Durability::kPower;
  const std::uint64_t persisted = counts ? steps_before_ + ring_.run_persisted() : 0;
  account_.steps_persisted.store(persisted, std::memory_order_relaxed);
  handoff_.show_persisted(persisted);
}

Error Attachment::finish(ServeEnd end, const std::string& what_stopped) {
  const std::optional<Error> archive_error = triggers_.finish();
  const int sync_error = ring_.finish();
  pool().note_truncation();
  count_persisted();
  const std::uint64_t committed = account_.steps_committed.load();
  const auto verdict = [&]() -> Error {
    if (const std::optional<Error> fault = pool().fault()) return *fault;
    if (sync_error != 0) {
      return system_error(
          "{}: writing to the disk failed ({}); {} of {} committed steps are known to survive power loss; the run was "
          "stopped",
          options_.ring.pool, errno_text(sync_error), account_.steps_persisted.load(), committed);
    }
    switch (pool().whereabouts()) {
      case Whereabouts::kNamed: break;
      case Whereabouts::kDeleted:
        return system_error(
            "{}: the pool was deleted during the run; its path now names another file or no file; the {} committed "
            "steps are lost",
            options_.ring.pool, committed);
      case Whereabouts::kElsewhere:
        return system_error(
            "{}: the pool was moved during the run; its path now names another file or no file; the newest of the {} "
            "committed steps are in the moved file",
            options_.ring.pool, committed);
    }
    if (archive_error) return *archive_error;
    switch (end) {
      case ServeEnd::kTriggered:
        return {ExitCode::kInterrupted, fmt::format("{} stopped the run; the {} committed steps are in {}",
                                                    what_stopped.empty() ? triggers_.what_stopped() : what_stopped,
                                                    committed, options_.ring.pool)};
      case ServeEnd::kStopped:
        return peer_error("the analyzer was asked to stop; the {} committed steps are in {}", committed,
                          options_.ring.pool);
      case ServeEnd::kStopRequested:
        return {ExitCode::kInterrupted,
                fmt::format("the run was asked to stop (`ringside stop`); the {} committed steps are in {}", committed,
                            options_.ring.pool)};
      case ServeEnd::kViolation:
        return peer_error("the producer broke the hand-off protocol after {} steps; the committed steps are in {}",
                          committed, options_.ring.pool);
      case ServeEnd::kProducerLost: return peer_error("the producer was lost after {} committed steps", committed);
      case ServeEnd::kProducerStopped:
        return peer_error(
            "a signal stopped the producer for {} s (--peer-timeout); before that, {} steps were committed",
            options_.peer.timeout_s, committed);
      case ServeEnd::kDetached:
      case ServeEnd::kSyncFailed: break;
    }
    return {ExitCode::kDone, ""};
  };
  const Error error = verdict();
  const bool stopping = end == ServeEnd::kStopped || end == ServeEnd::kProducerStopped;
  handoff_.farewell(error.code(), error.what(), stopping && error.code() == ExitCode::kPeerLost);
  return error;
}

}  // namespace ringside
