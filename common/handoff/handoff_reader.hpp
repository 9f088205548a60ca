// SPDX-License-Identifier: BSD-3-Clause
// The receiving side of the hand-off: accepts a producer, waits for its steps, releases its buffers, sends the
// farewell. Everything that comes from the peer is checked before it is used (docs/formats/handoff_protocol.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/handoff/attach_request.hpp"
#include "common/handoff/coordination.hpp"
#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/peer.hpp"
#include "common/handoff/shared_mapping.hpp"
#include "common/platform/error.hpp"
#include "common/platform/pulse.hpp"
#include "common/platform/stop_flag.hpp"

namespace ringside {

enum class NextStatus {
  kStep,             // the next step is there
  kDetached,         // the producer detached, and all its steps were taken
  kProducerLost,     // it exited or hung up without detaching; all it published was taken
  kProducerStopped,  // a signal (SIGSTOP) has stopped it for the peer's time-out; all it published was taken
  kStopped,          // `stop` was set; all that was published by then was taken
  kViolation         // the producer's data in shared memory violate the protocol
};

/// Where a run continues, if the analyzer has kept steps of it; all empty: from its beginning.
struct Continuation {
  std::optional<StepWithScalars> last;  // the newest step kept of this run: new steps come after it
  std::optional<Id128> resumed;         // the run that continues, if it is not the producer's own
  SharedMapping kept;                   // if `resumed`: the step `last`, its variables and KeptScalars
  std::string note;                    // for the user
};

/// A published step: its buffer, and the producer's description of it. Valid until `release`.
struct PublishedStep {
  const std::byte* payload = nullptr;  // all variables, read-only; the producer may still change them
  StepWithScalars step;                // a copy
};

/// Predicts when the next step comes: the next iteration of a solver takes about as long as the last ones. So the
/// analyzer can sleep through most of an iteration and still be awake when the step comes.
class StepRhythm {
 public:
  /// published_at_ns: not before the one observed last.
  void observe(std::int64_t published_at_ns) noexcept {
    const std::int64_t interval = published_at_ns - last_ns_;
    if (last_ns_ != 0) interval_ns_ = interval_ns_ == 0 ? interval : interval_ns_ + (interval - interval_ns_) / 4;
    last_ns_ = published_at_ns;
  }

  /// Spinning begins this long before the expected instant and ends as long after it. 100 us allow for a late timer or
  /// a busy hypervisor, an eighth for varying iterations. At most 2 ms, because a spinning thread checks nothing else.
  std::int64_t margin_ns() const noexcept { return std::min<std::int64_t>(100'000 + interval_ns_ / 8, 2'000'000); }
  std::int64_t expected_ns() const noexcept { return interval_ns_ == 0 ? 0 : last_ns_ + interval_ns_; }

 private:
  std::int64_t last_ns_ = 0;
  std::int64_t interval_ns_ = 0;  // smoothed
};

/// Refuses a request to attach, which may be unread, and sends the reason.
void refuse(Peer& peer, const Error& error) noexcept;

/// Not thread-safe: one thread waits and releases. Many may read the buffer in between.
class HandoffReader {
 public:
  /// Reads the attach request of a peer that just connected at `socket`. Throws Error if the peer does not send one
  /// within `timeout_ms`, or if the request violates the protocol. If the requested coordination cannot be opened,
  /// also refuses the request before it throws. peer_timeout_s: how long the producer's process may be stopped by a
  /// signal before it counts as lost. messages: for a producer that coordinates by messages; null: it is refused.
  HandoffReader(Peer peer, const std::string& socket, int timeout_ms, double peer_timeout_s = 30,
                MakeMessages messages = nullptr);

  const RunDescription& run() const noexcept { return request_->head.run; }
  const Schema& schema() const noexcept { return request_->schema; }
  const std::vector<Scalar>& scalars() const noexcept { return request_->scalars; }
  PoolUse pool_use() const noexcept { return request_->head.pool_use; }
  /// With PoolUse::kResume: the iteration to continue from; 0: the newest intact one.
  std::uint64_t resume_from() const noexcept { return request_->head.resume_from; }
  /// The pool that the producer requests; empty: any.
  std::string asked_pool() const { return std::string(text_of(request_->head.pool)); }
  /// The text of the ranks file that came with the request, unchecked; empty if there was none.
  const std::string& ranks() const noexcept { return ranks_; }
  std::uint32_t buffers() const noexcept { return geometry_.buffers; }
  CoordinationKind coordination() const noexcept { return request_->head.coordination; }
  bool elastic() const noexcept { return request_->head.elastic != 0; }
  /// With `elastic`: the producer's cores, lent while it waits for a buffer. Must not outlive this object.
  CoreBorrower producer_cores() noexcept { return {control_->producer_cores, control_->released}; }
  pid_t producer_pid() const noexcept { return peer_.pid(); }
  /// False if the producer is gone and none of its published steps waits to be committed.
  bool wanted() const noexcept {
    return peer_.alive() || control_->published.load(std::memory_order_acquire) > next_step_;
  }
  /// Steps of this attachment that are committed, by any analyzer.
  std::uint64_t steps_released() const noexcept { return next_step_; }

  /// Accepts the request: the run is served from here on. Releases a step that an earlier analyzer committed but could
  /// not release. cores: with `elastic`, the cores that are lent while the analyzer waits for a step.
  void accept(const Continuation& from = {}, const std::vector<int>& cores = {});
  /// Refuses the request, for the reason in `error`.
  void refuse(const Error& error) { ringside::refuse(peer_, error); }

  /// Waits for the next step. may_spin: false if both processes share a core. pulse: if not null, called while the
  /// wait continues.
  NextStatus next(PublishedStep& step, bool may_spin, StopFlag stop, Pulse* pulse = nullptr) noexcept;

  /// Call it when the step is committed: the producer may then write to its buffer again.
  void release() noexcept;

  /// Shows the producer how many steps of this attachment survive power loss, without waking it.
  void show_persisted(std::uint64_t steps) noexcept { control_->persisted.store(steps, std::memory_order_relaxed); }

  /// Ends the run: the producer gets no further buffer, from this analyzer or a successor. Before it reads the
  /// farewell, it publishes at most as many further steps as it has buffers.
  void end_run() noexcept;
  /// An earlier analyzer of this attachment has called `end_run`.
  bool run_ends() const noexcept { return ends_; }

  /// Answers the producer with a number, which it reads at its next claim.
  void reply(double value) noexcept;

  /// Sends the last message. code kDone: all that was published is committed (and persisted, if requested). stopping:
  /// the producer may look for another analyzer.
  void farewell(ExitCode code, const std::string& message, bool stopping = false) noexcept;

  /// After kDetached: how the run ended, as the producer reported it; kFailed if it did not.
  Outcome outcome() noexcept;

 private:
  void coordinate(const std::string& socket, MakeMessages messages);
  StepWithScalars step_at(std::uint64_t step) const noexcept;
  bool take(PublishedStep& step) noexcept;
  bool all_taken_at_stop(StopFlag stop) noexcept;

  std::optional<AttachRequest> request_;  // received by the constructor
  std::int64_t peer_timeout_ns_;
  PayloadGeometry geometry_;
  Peer peer_;
  SharedMapping payload_;
  SharedMapping control_mapping_;
  std::string ranks_;
  HandoffControl* control_ = nullptr;
  CoreLender lender_;                         // with `elastic`
  std::uint64_t epoch_ = 0;                   // of this attachment
  std::unique_ptr<Messages> messages_;        // for CoordinationKind::kMessages
  std::unique_ptr<Coordination> coordination_;
  std::uint64_t next_step_ = 0;
  bool ends_ = false;
  std::uint64_t last_iteration_ = 0;
  std::int64_t last_published_at_ns_ = 0;
  std::optional<std::uint64_t> stop_at_;  // `published` when `stop` was first seen: steps below it are taken
  StepRhythm rhythm_;
};

}  // namespace ringside
