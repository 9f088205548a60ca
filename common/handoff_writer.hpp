// The publishing side of the hand-off, a library any solver can link: attach, claim a buffer, write x_k into it,
// publish, detach. docs/handoff_protocol.md is the contract; examples/publish_from_your_solver.cpp the shortest user.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "common/handoff_layout.hpp"
#include "common/peer.hpp"
#include "common/shared_mapping.hpp"

namespace ringside {

struct HandoffOptions {
  std::string socket;             // path of the analyzer's socket
  std::uint32_t buffers = 2;      // 2..64; 2 is the double buffer
  double peer_timeout_s = 30;     // how long a peer may be absent, or make no progress, before it counts as lost
  bool overwrite = false;         // the pool may lose another run's iterates
  std::int64_t spin_ns = 50'000;  // before a wait sleeps; 0 where producer and analyzer share a core
  const std::atomic<bool>* stop = nullptr;  // ends a wait early; may be null
};

enum class ClaimStatus {
  kOk,
  kFull,             // only from try_claim: no buffer is free now
  kAnalyzerLost,     // it exited or hung up
  kAnalyzerStalled,  // it made no progress for peer_timeout_s
  kAnalyzerFailed,   // it said farewell with an error (`farewell()` has the line)
  kStopped           // `stop` was set while waiting
};

struct Claim {
  ClaimStatus status = ClaimStatus::kOk;
  double* buffer = nullptr;  // rows doubles, 2 MiB-aligned, ours until the next publish
};

/// What the solver knows of a step when it publishes it.
struct StepReport {
  std::uint64_t iteration = 0;
  double residual_l1 = 0;
  double residual_linf = 0;
  std::int64_t generate_ns = 0;
};

/// Not thread-safe: one thread attaches, claims, publishes and detaches. The buffers may be written by many.
class HandoffWriter {
 public:
  /// Connects, passes the buffers on, and waits for the analyzer's consent. Throws Error: the analyzer's own line and
  /// exit code when it refuses, exit code 4 when there is none, 2 when `buffers` is out of range.
  HandoffWriter(const HandoffOptions& options, const RunDescription& run);

  /// The buffer for the next step, waiting while the analyzer still copies from it. The wait counts as producer idle.
  Claim claim() noexcept { return claim(options_.stop); }

  /// The same, deaf to `stop`: for the last iterate of a run that was asked to stop.
  Claim claim_last() noexcept { return claim(nullptr); }

  /// The same without waiting; kFull counts the step as skipped. kAnalyzerStalled once nothing was released for
  /// peer_timeout_s.
  Claim try_claim() noexcept;

  /// The step counted as skipped last is going to be published after all.
  void take_back_skip() noexcept { --skipped_; }

  /// Hands the claimed buffer over. Its bytes may still be read (x_{k-1}), but not written, until B - 1 more claims.
  void publish(const StepReport& report) noexcept;

  /// Says goodbye and waits until the analyzer has committed everything published (and persisted it, where asked for).
  /// Throws Error with the analyzer's exit code and line if it failed, 4 if it was lost or stalled, or left earlier
  /// without having committed all.
  void detach(Outcome outcome);

  /// The line the analyzer gave when it failed, with its exit code; nothing while all is well.
  std::optional<Farewell> farewell();

  std::uint64_t published() const noexcept { return next_step_; }
  std::uint64_t skipped() const noexcept { return skipped_; }
  std::int64_t idle_ns() const noexcept { return idle_ns_; }

 private:
  Claim claim(const std::atomic<bool>* stop) noexcept;
  Claim take_buffer() noexcept;
  bool receive_farewell(int timeout_ms);
  std::int64_t timeout_ns() const noexcept;

  HandoffOptions options_;
  PayloadGeometry geometry_;
  Peer peer_;
  SharedMapping payload_;
  SharedMapping control_mapping_;
  HandoffControl* control_ = nullptr;
  std::optional<Farewell> farewell_;
  std::uint64_t next_step_ = 0;
  std::uint64_t skipped_ = 0;
  std::int64_t full_since_ns_ = 0;  // of try_claim: when it first found no buffer free; 0: it found one
  std::uint64_t skipped_reported_ = 0;
  std::int64_t idle_ns_ = 0;
  std::int64_t idle_reported_ns_ = 0;
};

}  // namespace ringside
