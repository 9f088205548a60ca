// The receiving side of the hand-off: takes a producer in, waits for its steps, releases its buffers, says farewell.
// Everything that comes from the peer is checked before it is used (docs/handoff_protocol.md).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/handoff/channel.hpp"
#include "common/handoff/coordination.hpp"
#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/peer.hpp"
#include "common/handoff/shared_mapping.hpp"
#include "common/platform/error.hpp"
#include "common/platform/pulse.hpp"

namespace ringside {

enum class NextStatus {
  kStep,             // a step is there
  kDetached,         // the producer said goodbye, and all its steps were taken
  kProducerLost,     // it exited or hung up without; all it published was taken
  kProducerStopped,  // a signal (SIGSTOP) has stopped it for the peer's time-out; all it published was taken
  kStopped,          // `stop` was set; all that was published by then was taken
  kViolation         // what the producer wrote into the shared memory is against the protocol
};

/// From where a run goes on that the analyzer has kept steps of; all empty: from its beginning.
struct Continuation {
  std::optional<StepDescriptor> last;  // the newest step kept of this run: what is published comes after it
  std::optional<Id128> resumed;        // the run that goes on, where the producer did not know it
  SharedMapping payload;               // then: the iterate of `last`, rows doubles
  std::string note;                    // for the user
};

/// A published step: where it lies, and what the producer said of it. Valid until `release`.
struct PublishedStep {
  const double* buffer = nullptr;  // rows doubles, read-only
  StepDescriptor descriptor;
};

/// When the next step is to be expected: iterations of one solver take about as long as the last ones did. Knowing it,
/// the analyzer can sleep through most of an iteration and still be awake when the step comes.
class StepRhythm {
 public:
  /// published_at_ns: not before the one observed last.
  void observe(std::int64_t published_at_ns) noexcept {
    const std::int64_t interval = published_at_ns - last_ns_;
    if (last_ns_ != 0) interval_ns_ = interval_ns_ == 0 ? interval : interval_ns_ + (interval - interval_ns_) / 4;
    last_ns_ = published_at_ns;
  }

  /// Spinning begins this long before the expected instant and ends as long after it. 100 us: a late timer, a busy
  /// hypervisor; an eighth: iterations that vary. At most 2 ms, because whoever spins looks at nothing else.
  std::int64_t margin_ns() const noexcept { return std::min<std::int64_t>(100'000 + interval_ns_ / 8, 2'000'000); }
  std::int64_t expected_ns() const noexcept { return interval_ns_ == 0 ? 0 : last_ns_ + interval_ns_; }

 private:
  std::int64_t last_ns_ = 0;
  std::int64_t interval_ns_ = 0;  // smoothed
};

/// Not thread-safe: one thread waits and releases. Many may read the buffer in between.
class HandoffReader {
 public:
  /// Reads the attach request of a peer that just connected at `socket`. Throws Error when it does not send one within
  /// `timeout_ms`, or when anything in it is not as the protocol says; where the way of telling that it asks for cannot
  /// be opened, it has been refused. peer_timeout_s: how long the producer's process may be stopped by a signal before
  /// it counts as lost.
  HandoffReader(Peer peer, const std::string& socket, int timeout_ms, double peer_timeout_s = 30);

  const RunDescription& run() const noexcept { return request_.run; }
  PoolUse pool_use() const noexcept { return request_.pool_use; }
  std::uint32_t buffers() const noexcept { return geometry_.buffers; }
  CoordinationKind coordination() const noexcept { return request_.coordination; }
  bool elastic() const noexcept { return request_.elastic != 0; }
  /// With `elastic`: the producer's cores, lent while it waits for a buffer. Outlived by this object.
  CoreBorrower producer_cores() noexcept { return {control_->producer_cores, control_->released}; }
  pid_t producer_pid() const noexcept { return peer_.pid(); }
  /// False if nobody is left to serve: the producer is gone, and nothing it published waits to be committed.
  bool wanted() const noexcept {
    return peer_.alive() || control_->published.load(std::memory_order_acquire) > next_step_;
  }
  /// Steps of this attachment that are committed, by whatever analyzer.
  std::uint64_t steps_released() const noexcept { return next_step_; }

  /// Answers the request: the run is served from here on. A step that the analyzer before us committed and could not
  /// release any more is released. cores: with `elastic`, those that are lent while we wait for a step.
  void accept(const Continuation& from = {}, const std::vector<int>& cores = {});
  /// Answers the request: it is not, for the reason in `error`.
  void refuse(const Error& error);

  /// Waits for the next step. may_spin: false where both processes share a core. pulse: hears, if not null, that the
  /// wait goes on.
  NextStatus next(PublishedStep& step, bool may_spin, const std::atomic<bool>* stop, Pulse* pulse = nullptr) noexcept;

  /// The step is committed: the producer may write to its buffer again.
  void release() noexcept;

  /// Last words. code kDone: all that was published is committed (and persisted, where asked for). stopping: the
  /// producer may look for another analyzer.
  void farewell(ExitCode code, const std::string& message, bool stopping = false) noexcept;

  /// After kDetached: how the producer said its run ended; kFailed if it did not say.
  Outcome outcome() noexcept;

 private:
  void coordinate(const std::string& socket);
  const StepDescriptor& descriptor_at(std::uint64_t step) const noexcept;
  bool take(PublishedStep& step) noexcept;
  bool all_taken_at_stop(const std::atomic<bool>* stop) noexcept;

  AttachRequest request_;
  std::int64_t peer_timeout_ns_;
  PayloadGeometry geometry_;
  Peer peer_;
  SharedMapping payload_;
  SharedMapping control_mapping_;
  HandoffControl* control_ = nullptr;
  CoreLender lender_;                         // with `elastic`
  std::uint64_t epoch_ = 0;                   // of this attachment
  std::unique_ptr<ChannelContext> messages_;  // for the coordination that has any
  std::unique_ptr<Coordination> coordination_;
  std::uint64_t next_step_ = 0;
  std::uint64_t last_iteration_ = 0;
  std::int64_t last_published_at_ns_ = 0;
  std::optional<std::uint64_t> stop_at_;  // what was published when `stop` was first seen: taken before we stop
  StepRhythm rhythm_;
};

}  // namespace ringside
