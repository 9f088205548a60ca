// SPDX-License-Identifier: BSD-3-Clause
// The analyzer's main loop. For each step, it waits for the step, copies it into the ring, commits it, releases the
// producer's buffer, reduces the step, and adds its figures to the account.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/account.hpp"
#include "analyzer/pool/ring_admission.hpp"
#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/recorder/record_queue.hpp"
#include "analyzer/reduce_adaptation.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "analyzer/triggers/run_triggers.hpp"
#include "analyzer/whole_run/rounds.hpp"
#include "common/handoff/handoff_reader.hpp"
#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "common/platform/pulse.hpp"
#include "common/ranks/ranks_file.hpp"
#include "common/records/step_results.hpp"
#include "common/reductions/step_reducer.hpp"
#include "common/threads/team.hpp"

namespace ringside {

struct AnalyzerOptions {
  RingOptions ring;
  JournalOptions journal;
  TelemetryOptions telemetry;
  ReduceOptions reduce;
  PlugInOptions plug_ins;
  TriggerOptions triggers;
  PlannedStepOptions planned;
  PeerOptions peer;
  std::vector<int> cores;  // the cores of this process; empty if it is not pinned and lends none
  bool may_spin = true;    // whether to spin while waiting; false if producer and analyzer share a core
  bool is_trial = false;   // whether the pool is a trial's, and so serves a producer that requests another pool
};

/// How serving one producer ended.
enum class ServeEnd {
  kDetached,
  kProducerLost,
  kProducerStopped,
  kStopped,        // a stop of the service was requested
  kStopRequested,  // the end of the run was requested; the service continues
  kTriggered,      // a trigger has ended the run; the service continues
  kViolation,
  kSyncFailed
};

/// One attachment of a producer, from the search for a ring to the end of the connection.
class Attachment {
 public:
  /// Finds and prepares the ring for the run. Throws Error; the caller then refuses the producer. Keeps references to
  /// its arguments. plug_ins: made from options.plug_ins. records: receives the figures of each step; may be null.
  /// pulse: beats at each step and while the analyzer waits for one.
  Attachment(HandoffReader& handoff, const AnalyzerOptions& options, PlugInSet& plug_ins, AnalyzerAccount& account,
             RecordQueue* records, Pulse& pulse);

  /// Adds each later step's parts to the results of the whole run. round: must outlive `serve`. Call before `serve`.
  void join(Rounds& round) noexcept { rounds_ = &round; }
  /// The threads that copy and reduce. Use them only between steps.
  Team& team() noexcept { return *team_; }

  /// The ranks of all nodes; empty unless this is a run of MPI ranks.
  const std::optional<RanksFile>& ranks() const noexcept { return ranks_; }

  /// Moves out the iterate from which the run continues; pass it to HandoffReader::accept next. The result owns its
  /// payload.
  Continuation take_continuation() { return std::move(continuation_); }
  RunStart start() const noexcept { return admission_.start; }
  const RunDescription& run() const noexcept { return admission_.run; }

  /// Serves steps until the producer leaves or is lost, `stop` is set, or the disk fails. Every step that has been
  /// published when it returns is committed, unless the disk failed, the producer broke the protocol, or a trigger has
  /// frozen the ring. A trigger sets `stop` as well.
  ServeEnd serve(std::atomic<bool>& stop) noexcept;

  /// Waits until everything is persisted, if the durability requires that. Then sends the outcome to the producer and
  /// returns it: code kDone, or the reason of a failure with the line for the user. A failed disk takes precedence over
  /// other reasons.
  /// what_stopped: used with kTriggered: the trigger over the whole run that ended the run; empty if a trigger of this
  /// node ended it.
  Error finish(ServeEnd end, const std::string& what_stopped = {});

  /// Iteration of the kept iterate from which the run continues; 0: the run starts anew. Valid until the first step.
  std::uint64_t from_iteration() const noexcept { return account_.last_iteration.load(); }
  /// The steps that the ring kept before the first new step. If a run was discarded, these are the steps of that run in
  /// the ring that held it (this ring, or the ring that was replaced).
  std::vector<RecordedStep> take_kept_steps() { return std::move(kept_steps_); }
  /// The results that the records of this run contain.
  const SharedLayout& layout() const noexcept { return layout_; }
  /// commit_seq of the first step that this attachment commits. Valid until that step.
  std::uint64_t first_commit_seq() const noexcept { return ring_.next_seq(); }
  /// The pool that holds the run's ring.
  const RingPool& pool() const noexcept { return admission_.pool; }
  /// The newest step's results; empty if none was reduced.
  StepResults last() const { return has_last_ ? StepResults(layout_, values_) : StepResults(); }
  /// How steps are reduced now; `--adapt` may have changed it.
  const ReduceAdaptation& reduction() const noexcept { return reduction_; }
  const PlugInSet& plug_ins() const noexcept { return plug_ins_; }
  const RunTriggers& triggers() const noexcept { return triggers_; }
  /// Whether a trigger ended the run, either under this analyzer or under an earlier one.
  bool triggered() const noexcept { return triggered_; }
  /// One line for each way in which a plug-in made an earlier analyzer of this run fail.
  const std::vector<std::string>& plug_in_lines() const noexcept { return plug_in_lines_; }

 private:
  void keep_ranks();
  std::optional<KeptSlot> begin_run();
  void describe_kept_scalars(std::size_t of_step) noexcept;
  std::size_t scalars_of(const KeptSlot& kept) const;
  void continue_from(const KeptSlot& newest, const Recovery& found);
  bool keep(const PublishedStep& step, std::int64_t idle_ns) noexcept;
  void pass_over(const PublishedStep& step, std::int64_t idle_ns) noexcept;
  std::int64_t begin_account(std::int64_t serving_since_ns, std::int64_t begun_ns) noexcept;
  std::int64_t end_step() noexcept;
  void record_marks(const StepMarks& marks, const StepFigures& figures) noexcept;
  void end_run(std::atomic<bool>& stop) noexcept;
  enum class Recorded { kYes, kNo, kOfAnotherCatalogue };
  Recorded recorded_values(const KeptSlot& kept, std::span<std::uint64_t> values) const;
  bool values_of(const KeptSlot& kept, std::span<std::uint64_t> values);
  void count(StepFigures& figures, std::int64_t ended_ns) noexcept;
  void count_persisted() noexcept;

  HandoffReader& handoff_;
  const AnalyzerOptions& options_;
  AnalyzerAccount& account_;
  RecordQueue* const records_;
  Pulse& pulse_;
  PlugInSet& plug_ins_;
  const std::vector<std::string> plug_in_lines_;
  const Catalogue catalogue_;
  std::unique_ptr<Team> team_;
  // These members are made before the admission: if a plug-in refuses a field, or a condition has an unknown name, the
  // pool must keep its iterates.
  StepReducer reducer_;
  const SharedLayout layout_;
  TriggerSet conditions_;
  Admission admission_;
  RingWriter ring_;
  RunTriggers triggers_;
  ReduceAdaptation reduction_;
  std::optional<RanksFile> ranks_;
  Rounds* rounds_ = nullptr;  // null if the run has only one node
  std::vector<RecordedStep> kept_steps_;
  Continuation continuation_;
  std::uint64_t steps_before_ = 0;            // the number of steps that earlier analyzers of this run committed
  std::vector<std::uint64_t> values_;         // the values of the newest step, in the records' order
  std::vector<std::uint64_t> passed_values_;  // the values of a step that was not kept
  std::int64_t recorded_ns_ = 0;              // the time `record` of the last step; it is in the next step's figures
  bool has_last_ = false;                     // whether `values_` belong to a step
  bool triggered_ = false;                    // whether a trigger ends the run
};

}  // namespace ringside
