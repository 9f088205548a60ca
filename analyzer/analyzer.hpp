// The analyzer's main loop: wait for a step, copy it into the ring, commit, release the producer's buffer, reduce,
// account.
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
#include "analyzer/ring/ring_writer.hpp"
#include "common/handoff/handoff_reader.hpp"
#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "common/platform/pulse.hpp"
#include "common/reductions/reduction.hpp"
#include "common/telemetry/step_figures.hpp"
#include "common/threads/team.hpp"

namespace ringside {

struct AnalyzerOptions {
  RingOptions ring;
  JournalOptions journal;
  TelemetryOptions telemetry;
  ReduceOptions reduce;
  PeerOptions peer;
  std::vector<int> cores;  // this process's; empty: not pinned, and none to lend
  bool may_spin = true;    // while it waits; false where producer and analyzer share a core
};

/// How serving one producer ended.
enum class ServeEnd {
  kDetached,
  kProducerLost,
  kProducerStopped,
  kStopped,        // the service is to end
  kStopRequested,  // the run is, and the service goes on
  kViolation,
  kSyncFailed
};

/// One attachment: from the search for a ring to the farewell.
class Attachment {
 public:
  /// Finds and prepares the ring for the run; throws Error, for which the producer is to be refused. References are
  /// kept. records: where the figures of each step go; null: nowhere. pulse: hears of each step, and of waiting for
  /// one.
  Attachment(HandoffReader& handoff, const AnalyzerOptions& options, AnalyzerAccount& account, RecordQueue* records,
             Pulse& pulse);

  /// From where the run goes on: for HandoffReader::accept, which comes next. Its payload is let go of then.
  Continuation take_continuation() { return std::move(continuation_); }
  Iterates iterates() const noexcept { return admission_.iterates; }
  const RunDescription& run() const noexcept { return admission_.run; }

  /// Serves steps until the producer leaves or is lost, `stop` is set, or the disk fails. What was published by then is
  /// committed, unless the disk failed or the producer broke the protocol.
  ServeEnd serve(const std::atomic<bool>& stop) noexcept;

  /// Waits until everything is persisted (where asked for) and tells the producer how it went. Returns what it was
  /// told: code kDone, or why not, with the line for the user; a disk that failed goes before any other reason.
  Error finish(ServeEnd end);

  /// Of the kept iterate that the run goes on from; 0: from its beginning. Until the first step.
  std::uint64_t from_iteration() const noexcept { return account_.last_iteration.load(); }
  /// What the ring kept before the first step; if a run was discarded, what its ring (this one or the replaced one)
  /// kept of it.
  std::vector<StepFigures> take_kept() { return std::move(kept_); }
  /// commit_seq of the first step that this attachment commits. Valid until that step.
  std::uint64_t first_commit_seq() const noexcept { return ring_.next_seq(); }
  /// The pool that holds the run's ring.
  const RingPool& pool() const noexcept { return admission_.pool; }
  const std::optional<Reductions>& last() const noexcept { return last_; }

 private:
  std::optional<KeptSlot> begin_run();
  void continue_from(const KeptSlot& newest, const Recovery& found);
  bool keep(const PublishedStep& step, std::int64_t arrived_ns, std::int64_t idle_ns) noexcept;
  void count(StepFigures& figures, std::int64_t ended_ns) noexcept;
  void count_persisted() noexcept;

  HandoffReader& handoff_;
  const AnalyzerOptions& options_;
  AnalyzerAccount& account_;
  RecordQueue* const records_;
  Pulse& pulse_;
  Admission admission_;
  std::unique_ptr<Team> team_;
  RingWriter ring_;
  Reducer reducer_;
  std::vector<StepFigures> kept_;
  Continuation continuation_;
  std::uint64_t steps_before_ = 0;  // committed by analyzers before us
  std::optional<Reductions> last_;
};

}  // namespace ringside
