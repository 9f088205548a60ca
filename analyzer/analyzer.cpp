#include "analyzer/analyzer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/ring_admission.hpp"
#include "common/clock.hpp"

namespace ringside {
namespace {

void add(std::atomic<std::int64_t>& figure, std::int64_t ns) noexcept {
  figure.store(figure.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
}

/// When the work on the first published step began.
std::int64_t begun_ns(const StepDescriptor& step) noexcept {
  return step.published_at_ns - step.generate_ns - step.producer_idle_ns;
}

}  // namespace

Attachment::Attachment(HandoffReader& handoff, const AnalyzerOptions& options, AnalyzerAccount& account)
    : handoff_(handoff),
      options_(options),
      account_(account),
      pool_(admit(options.ring, handoff.run().rows, handoff.may_overwrite())),
      ring_(pool_.ring(), pool_.persistence(), pool_.storage(), options.ring.durability),
      reducer_(handoff.run().rows) {
  if (handoff.may_overwrite()) ring_.clear();
  ring_.begin_run(handoff.run());
  // A plain file under `power` is left alone: every page would be dirty, and the first sync write the whole ring.
  if (pool_.storage() == Storage::kDax || options.ring.durability == Durability::kProcess) pool_.prefault();
}

ServeEnd Attachment::serve(const std::atomic<bool>& stop) noexcept {
  bool first = true;
  for (std::int64_t idle_since = now_ns();;) {
    PublishedStep step;
    const NextStatus status = handoff_.next(step, options_.may_spin, &stop);
    const std::int64_t arrived = now_ns();
    if (status == NextStatus::kStep) {
      // The account begins with the first iteration, not with the solver's preparations for it.
      if (first) idle_since = std::max(idle_since, begun_ns(step.descriptor));
      first = false;
      add(account_.analyzer_idle_ns, arrived - idle_since);
      if (!keep(step, arrived)) return ServeEnd::kSyncFailed;
      idle_since = account_.ended_ns.load(std::memory_order_relaxed);
      continue;
    }
    switch (status) {
      case NextStatus::kDetached: return ServeEnd::kDetached;
      case NextStatus::kStopped: return ServeEnd::kStopped;
      case NextStatus::kViolation: return ServeEnd::kViolation;
      default: return ServeEnd::kProducerLost;
    }
  }
}

// One iterate's way: shared buffer -> slot (transfer), header (commit), reductions (analyze). Bytes moved: the copy
// reads and writes the iterate once, a sweep of the reductions reads it once, the first sweep also reads the iterate
// before.
bool Attachment::keep(const PublishedStep& step, std::int64_t arrived_ns) noexcept {
  if (ring_.begin() != CommitStatus::kOk) return false;
  const std::int64_t copy_begin = now_ns();
  ring_.copy(step.buffer, step.descriptor);
  const std::int64_t copied = now_ns();
  handoff_.release();  // before the commit: the producer need not wait for that
  if (ring_.commit() != CommitStatus::kOk) return false;
  const std::int64_t committed = now_ns();
  last_ = reducer_.reduce(ring_.payload(), ring_.previous_payload(), options_.reduce.passes);
  ring_.record_reductions(*last_);
  const std::int64_t analyzed = now_ns();

  account_.hand_off.add(copy_begin - step.descriptor.published_at_ns);
  add(account_.transfer_ns, copied - copy_begin);
  add(account_.commit_ns, (copy_begin - arrived_ns) + (committed - copied));
  add(account_.analyze_ns, analyzed - committed);
  account_.bytes_transferred.store(
      account_.bytes_transferred.load(std::memory_order_relaxed) + handoff_.run().rows * sizeof(double),
      std::memory_order_relaxed);
  account_.last_iteration.store(step.descriptor.iteration, std::memory_order_relaxed);
  account_.steps_committed.store(ring_.run_committed(), std::memory_order_relaxed);
  account_.ended_ns.store(analyzed, std::memory_order_relaxed);
  count_persisted();
  return true;
}

void Attachment::count_persisted() noexcept {
  account_.steps_persisted.store(ring_.run_persisted(), std::memory_order_relaxed);
}

Error Attachment::finish(ServeEnd end) {
  const int sync_error = ring_.finish();
  count_persisted();
  const std::uint64_t committed = account_.steps_committed.load();
  const auto verdict = [&]() -> Error {
    if (sync_error != 0) {
      return system_error(
          "{}: writing to the disk failed ({}); {} of {} committed steps are known to survive power loss; the run was "
          "stopped",
          options_.ring.pool, errno_text(sync_error), account_.steps_persisted.load(), committed);
    }
    switch (end) {
      case ServeEnd::kStopped:
        return peer_error("the analyzer was asked to stop; the {} steps it had committed are in {}", committed,
                          options_.ring.pool);
      case ServeEnd::kViolation:
        return peer_error("the producer broke the hand-off protocol after {} steps; what was committed is in {}",
                          committed, options_.ring.pool);
      case ServeEnd::kProducerLost: return peer_error("the producer was lost after {} committed steps", committed);
      case ServeEnd::kDetached:
      case ServeEnd::kSyncFailed: break;
    }
    return {ExitCode::kDone, ""};
  };
  const Error error = verdict();
  handoff_.farewell(error.code(), error.what(), committed);
  return error;
}

}  // namespace ringside
