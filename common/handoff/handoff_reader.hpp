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
  kStep,             // the next step is available
  kDetached,         // the producer detached, and all of its steps were taken
  kProducerLost,     // the producer exited or hung up without detaching; all of its steps were taken
  kProducerStopped,  // a signal (SIGSTOP) stopped the producer for its time-out; all of its steps were taken
  kStopped,          // `stop` was set; all steps published by then were taken
  kViolation         // the producer's data in shared memory violate the protocol
};

/// Where a run continues, if the analyzer has kept steps of it. If all members are empty, the run begins anew.
struct Continuation {
  std::optional<StepWithScalars> last;  // the newest step kept of this run, which new steps follow
  std::optional<Id128> resumed;         // the id of the run that continues, if it is not the producer's own
  SharedMapping kept;                   // if `resumed`: the step `last`, its variables and KeptScalars
  std::string note;                    // a note for the user
};

/// A published step: its buffer, and the producer's description of it. Valid until `release`.
struct PublishedStep {
  const std::byte* payload = nullptr;  // the bytes of all variables, read-only; the producer may still change them
  StepWithScalars step;                // a copy of the description
  std::int64_t arrived_ns = 0;         // CLOCK_MONOTONIC, when `next` copied the description
};

/// Predicts when the next step will be published: the next iteration of a solver takes about as long as the last ones.
/// So the analyzer can sleep through most of an iteration and still be awake in time.
class StepRhythm {
 public:
  /// published_at_ns: no earlier than in the call before.
  void observe(std::int64_t published_at_ns) noexcept {
    const std::int64_t interval = published_at_ns - last_ns_;
    if (last_ns_ != 0) interval_ns_ = interval_ns_ == 0 ? interval : interval_ns_ + (interval - interval_ns_) / 4;
    last_ns_ = published_at_ns;
  }

  /// The time for which the analyzer spins before the expected instant, and again after it. 100 us allow for a late
  /// timer or a busy hypervisor; an eighth of the interval allows for iterations of varying length. The limit is 2 ms,
  /// because a spinning thread checks nothing else.
  std::int64_t margin_ns() const noexcept { return std::min<std::int64_t>(100'000 + interval_ns_ / 8, 2'000'000); }
  std::int64_t expected_ns() const noexcept { return interval_ns_ == 0 ? 0 : last_ns_ + interval_ns_; }

 private:
  std::int64_t last_ns_ = 0;
  std::int64_t interval_ns_ = 0;  // the time between steps, smoothed
};

/// Refuses a request to attach, even if it has not been read, and sends the reason.
void refuse(Peer& peer, const Error& error) noexcept;

/// Not thread-safe: one thread waits and releases. Between these calls, many threads may read the buffer.
class HandoffReader {
 public:
  /// Reads the attach request of a peer that just connected at `socket`. Throws Error if the peer does not send a
  /// request within `timeout_ms`. If the request violates the protocol, or the requested coordination cannot be opened,
  /// refuses the request and then throws. peer_timeout_s: how long the producer's process may be stopped by a
  /// signal before it counts as lost. messages: for producers that coordinate by messages; if null, such producers are
  /// refused.
  HandoffReader(Peer peer, const std::string& socket, int timeout_ms, double peer_timeout_s = 30,
                MakeMessages messages = nullptr);

  const RunDescription& run() const noexcept { return request_->head.run; }
  const Schema& schema() const noexcept { return request_->schema; }
  const std::vector<Scalar>& scalars() const noexcept { return request_->scalars; }
  PoolUse pool_use() const noexcept { return request_->head.pool_use; }
  /// With PoolUse::kResume: the iteration to continue from, or 0 for the newest intact one.
  std::uint64_t resume_from() const noexcept { return request_->head.resume_from; }
  /// The pool that the producer requests; empty: any pool.
  std::string asked_pool() const { return std::string(text_of(request_->head.pool)); }
  /// The text of the ranks file that came with the request, unchecked; empty if there was none.
  const std::string& ranks() const noexcept { return ranks_; }
  std::uint32_t buffers() const noexcept { return geometry_.buffers; }
  CoordinationKind coordination() const noexcept { return request_->head.coordination; }
  bool elastic() const noexcept { return request_->head.elastic != 0; }
  /// With `elastic`: whether the producer only lends, so that this side lends none of its cores.
  bool producer_lends_only() const noexcept { return producer_lends_only_; }
  /// With `elastic`: the producer's cores, which it lends while it waits for a buffer. The result must not outlive this
  /// object.
  CoreBorrower producer_cores() noexcept { return {control_->producer_cores, control_->released}; }
  pid_t producer_pid() const noexcept { return peer_.pid(); }
  /// False if the producer has gone and all steps that it published are committed.
  bool wanted() const noexcept {
    return peer_.alive() || control_->published.load(std::memory_order_acquire) > next_step_;
  }
  /// The number of steps of this attachment that are committed, by this analyzer or an earlier one.
  std::uint64_t steps_released() const noexcept { return next_step_; }

  /// Accepts the request: from then on, the run is served. Releases a step that an earlier analyzer committed but could
  /// not release. cores: with `elastic`, the cores that are lent while the analyzer waits for a step, unless
  /// `producer_lends_only`.
  void accept(const Continuation& from = {}, const std::vector<int>& cores = {});
  /// Refuses the request, for the reason in `error`.
  void refuse(const Error& error) { ringside::refuse(peer_, error); }

  /// Waits for the next step. may_spin: false if both processes share a core. pulse: if not null, called while the
  /// wait continues.
  NextStatus next(PublishedStep& step, bool may_spin, StopFlag stop, Pulse* pulse = nullptr) noexcept;

  /// Call it when the step is committed: the producer may then write to the step's buffer again.
  void release() noexcept;

  /// Shows the producer how many steps of this attachment survive power loss, without waking it.
  void show_persisted(std::uint64_t steps) noexcept { control_->persisted.store(steps, std::memory_order_relaxed); }

  /// Ends the run: neither this analyzer nor a successor gives the producer another buffer. Before the producer reads
  /// the farewell, it publishes at most as many further steps as it has buffers.
  void end_run() noexcept;
  /// Whether an earlier analyzer of this attachment has called `end_run`.
  bool run_ends() const noexcept { return ends_; }

  /// Sends the producer a number, which the producer reads at its next claim.
  void reply(double value) noexcept;

  /// Sends the last message. code kDone: all published steps are committed (and persisted, if requested). stopping: the
  /// producer may look for another analyzer.
  void farewell(ExitCode code, const std::string& message, bool stopping = false) noexcept;

  /// After kDetached: how the run ended, as reported by the producer; kFailed if it reported nothing.
  Outcome outcome() noexcept;

 private:
  bool lends() const noexcept { return elastic() && !producer_lends_only_; }
  void coordinate(const std::string& socket, MakeMessages messages);
  void copy_step(std::uint64_t step, StepWithScalars& to) const noexcept;
  bool take(PublishedStep& step) noexcept;
  bool all_taken_at_stop(StopFlag stop) noexcept;

  std::optional<AttachRequest> request_;  // the request that the constructor received
  std::int64_t peer_timeout_ns_;
  PayloadGeometry geometry_;
  Peer peer_;
  SharedMapping payload_;
  SharedMapping control_mapping_;
  std::string ranks_;
  HandoffControl* control_ = nullptr;
  CoreLender lender_;  // used with `elastic`, unless producer_lends_only_
  bool producer_lends_only_ = false;
  std::uint64_t epoch_ = 0;                   // the number of this attachment
  std::unique_ptr<Messages> messages_;        // used with CoordinationKind::kMessages
  std::unique_ptr<Coordination> coordination_;
  std::uint64_t next_step_ = 0;
  bool ends_ = false;
  std::uint64_t last_iteration_ = 0;
  std::int64_t last_published_at_ns_ = 0;
  std::optional<std::uint64_t> stop_at_;  // value of `published` when `stop` was first seen: lower steps are taken
  StepRhythm rhythm_;
};

}  // namespace ringside
