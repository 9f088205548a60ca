// SPDX-License-Identifier: BSD-3-Clause
// The publishing side of the hand-off: attach, claim a buffer, write x_k into it, publish, detach. HandoffWriter
// implements ringside_writer in include/ringside.h, which every solver uses; docs/formats/handoff_protocol.md specifies
// the protocol.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/handoff/attach_request.hpp"
#include "common/handoff/coordination.hpp"
#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/handoff_options.hpp"
#include "common/handoff/peer.hpp"
#include "common/handoff/shared_mapping.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/results/result_description.hpp"

namespace ringside {

enum class ClaimStatus {
  kOk,
  kFull,             // no buffer is free now (try_claim), or there is no analyzer (OnAnalyzerLoss::kContinue)
  kAnalyzerLost,     // the analyzer exited or hung up, and no other one took over
  kAnalyzerStalled,  // the analyzer made no progress for peer_timeout_s
  kAnalyzerFailed,   // the analyzer left with an error, its successor refused the request, or a child of fork() claimed
  kStopped           // `stop` was set during the wait
};

/// The result of a claim: a buffer, or the reason why none was given. Check it before writing to `payload`:
///   if (!claim) throw handoff.failure(claim.status);
struct [[nodiscard]] Claim {
  ClaimStatus status = ClaimStatus::kOk;
  std::byte* payload = nullptr;  // all variables, 2 MiB-aligned; writable until the next publish; null unless kOk
  explicit operator bool() const noexcept { return status == ClaimStatus::kOk; }
  /// The first variable. Call it only in a run in which this variable is f64.
  double* x() const noexcept { return reinterpret_cast<double*>(payload); }
};

/// The solver's description of a step that it publishes.
struct StepReport {
  std::uint64_t iteration = 0;
  std::int64_t generate_ns = 0;
};

/// The step that a run continues from.
struct KeptStep {
  Id128 run_id;  // the id of the run that continues, which replaces the run_id of the request
  std::uint64_t iteration = 0;
  SharedMapping memory;  // begins with the variables, laid out as in a buffer
  KeptScalars scalars;   // the scalars, in the order in which this run declares them

  const std::byte* payload() const noexcept { return memory.data(); }
  /// The first variable. Call it only in a run in which this variable is f64.
  const double* x() const noexcept { return reinterpret_cast<const double*>(payload()); }
  /// Whether the kept step has this scalar. The step lacks each scalar that its run did not declare.
  bool has_scalar(std::size_t index) const noexcept { return (scalars.present >> index & 1) != 0; }
  ScalarValue scalar(std::size_t index) const noexcept {
    ScalarValue value;
    value.word = scalars.words[index];
    return value;
  }
};

/// The exit code and the line with which the analyzer refuses a request.
class RefusedError : public Error {
 public:
  using Error::Error;
};

/// The words in shared memory from which a CoreBorrower for the analyzer's cores is made.
struct CoreLoan {
  LentCores* cores = nullptr;
  const std::atomic<std::uint64_t>* published = nullptr;
};

/// Not thread-safe: one thread attaches, claims, publishes and detaches. Many threads may write to the buffers. The
/// object belongs to the process that made it. In a child of fork(), a claim gives no buffer, publishing does nothing,
/// detaching throws Error (exit code 2), and the destructor leaves the attachment alone.
class HandoffWriter {
 public:
  /// Connects, passes the buffers on, and waits until the analyzer accepts. Every step has these `variables` and
  /// `scalars`. Sets run.entries, run.schema_id and run.problem_id from the variables. Throws RefusedError if the
  /// analyzer refuses. Throws Error: exit code 4 if there is no analyzer, 2 if `buffers` is out of range or the scalars
  /// are refused.
  HandoffWriter(const HandoffOptions& options, const RunDescription& run, Schema variables,
                std::vector<Scalar> scalars = {});

  /// The run as the analyzer records it: its problem_id covers the variables; a resumed run has the run_id of the run
  /// that the pool kept.
  const RunDescription& run() const noexcept { return request_.head.run; }
  const Schema& schema() const noexcept { return request_.schema; }

  /// With PoolUse::kResume, the first call returns the step to continue from. Later calls return nothing. If there is
  /// no such step, the first call also returns nothing.
  std::optional<KeptStep> take_kept() { return std::exchange(kept_, std::nullopt); }
  /// The analyzer's note for the user about the attachment; usually empty.
  const std::string& note() const noexcept { return note_; }

  /// The analyzer's cores, which it lends with `elastic` while it waits for a step. The result must not outlive this
  /// object.
  CoreLoan loan() noexcept { return {&control_->analyzer_cores, &control_->published}; }

  /// Returns the buffer for the next step. Waits while the analyzer still copies from that buffer; the wait counts as
  /// the producer's idle time. If the analyzer is lost meanwhile, the options decide what happens; a successor takes
  /// over at the first step that is not committed. Only kOk comes with a buffer. kAnalyzerLost, for instance, means
  /// that no other analyzer was available within peer_timeout_s. kAnalyzerFailed can also mean that this process lacks
  /// the memory or the descriptors to attach to a successor; a later claim tries again.
  Claim claim() noexcept { return claim(When::kFree, options_.on_analyzer_loss, options_.stop); }

  /// Like `claim`, but does not wait for a buffer. kAnalyzerStalled: nothing has been released for peer_timeout_s.
  Claim try_claim() noexcept { return claim(When::kNow, options_.on_analyzer_loss, options_.stop); }

  /// Like `claim`, but neither waits nor looks for the reason if no buffer can be had at once: kFull. Takes
  /// nanoseconds.
  Claim claim_at_once() noexcept;

  /// Returns the buffer for the last iterate of a run. Ignores `stop`, which may be the reason why this iterate is the
  /// last. If the analyzer has been lost, waits for another one, unless the run is to stop.
  Claim claim_last() noexcept { return claim(When::kFree, loss_at_the_end(), nullptr); }

  /// Call it for a step that the solver does not publish, for instance after kFull, because a claim without a buffer is
  /// not counted as a skipped step.
  void count_skip() noexcept { ++skipped_; }

  /// Publishes the claimed buffer. The solver may still read the bytes of this buffer (x_{k-1}), but must not write
  /// them until after B - 1 more claims, where B is the number of buffers. Publishes nothing unless a claim has given a
  /// buffer since the last publish. scalars: the step's values in the declared order; missing ones become 0.
  void publish(const StepReport& report, std::span<const ScalarValue> scalars = {}) noexcept;

  /// Detaches and waits until the analyzer has committed all published steps (and persisted them, if requested). If the
  /// analyzer is lost meanwhile, waits for another one as claim_last does. Throws Error: with the analyzer's exit code
  /// and line if the analyzer failed; with exit code 4 if the analyzer was lost, stalled, or left before it had
  /// committed all steps.
  void detach(Outcome outcome);

  /// The reason why a claim gave no buffer; if the analyzer sent a message, the reason is that message.
  Error failure(ClaimStatus status);

  /// The replies of the run's triggers, as of the last claim.
  struct Replies {
    std::uint64_t count = 0;  // the number of replies in this run; 0: none yet
    double last = 0;
  };
  const Replies& replies() const noexcept { return replies_; }

  std::uint64_t published() const noexcept { return next_step_; }
  /// committed: the number of published steps that the analyzer has committed. persisted: the number of published steps
  /// on the analyzer's medium, if persistence was requested.
  std::uint64_t committed() const noexcept { return control_->released.load(std::memory_order_acquire); }
  std::uint64_t persisted() const noexcept { return control_->persisted.load(std::memory_order_relaxed); }
  std::uint64_t skipped() const noexcept { return skipped_; }
  std::int64_t idle_ns() const noexcept { return idle_ns_; }

 private:
  enum class When { kFree, kNow };               // wait until a buffer is free, or take one that is free now
  enum class Link { kNone, kAsked, kAttached };  // the state of the attachment

  void ask(Peer peer);
  bool answered(int timeout_ms);
  void take_in(const AttachReply& reply, Peer::Received& received);
  void coordinate(std::uint64_t epoch);
  void attach(double connect_s, double answer_s);
  ClaimStatus reattach(OnAnalyzerLoss policy) noexcept;
  bool try_reattach();

  Claim claim(When when, OnAnalyzerLoss policy, StopFlag stop) noexcept;
  Claim wait_for_buffer(StopFlag stop) noexcept;
  Claim look_for_buffer() noexcept;
  ClaimStatus lost_or_failed() noexcept;
  Claim take_buffer() noexcept;
  Claim wait_for_end(bool waits) noexcept;
  bool run_ends() const noexcept {
    return control_->run_ends.load(std::memory_order_acquire) != 0;
  }
  bool buffer_is_free() noexcept;
  bool lacked_parts(std::uint64_t published) const noexcept;
  bool committed_any() const noexcept;
  PoolUse pool_use() const noexcept;
  OnAnalyzerLoss loss_at_the_end() const noexcept;

  bool leave(Outcome outcome);
  bool receive_farewell(int timeout_ms) noexcept;
  bool stop_wanted() const noexcept;
  std::int64_t timeout_ns() const noexcept;

  ForkMark process_;
  HandoffOptions options_;
  AttachRequest request_;
  PayloadGeometry geometry_;
  Peer peer_;
  Link link_ = Link::kNone;
  bool asked_before_ = false;
  SharedMapping payload_;
  SharedMapping control_mapping_;
  SharedMapping ranks_;  // the text in HandoffOptions::ranks, if it is set
  HandoffControl* control_ = nullptr;
  CoreLender lender_;  // used with `elastic`
  Id128 name_;         // identifies this side's messages to the analyzer of this attachment
  // A child of fork() must not end ZeroMQ's threads, because they exist only in its parent.
  std::unique_ptr<Messages, OwnersDelete<Messages>> messages_;  // used with CoordinationKind::kMessages
  std::unique_ptr<Coordination, OwnersDelete<Coordination>> coordination_;
  std::optional<KeptStep> kept_;
  std::string note_;
  std::optional<Farewell> farewell_;
  std::optional<Error> refusal_;  // the reason why a successor refused
  bool no_memory_ = false;        // whether memory was too short to attach to a successor, and even for an error text
  Replies replies_;
  bool claimed_ = false;          // whether a buffer is claimed and not yet published
  std::uint64_t next_step_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t skipped_reported_ = 0;
  std::int64_t full_since_ns_ = 0;    // the time at which all buffers were first found in use; 0: one was free
  std::int64_t next_attempt_ns_ = 0;  // the time of the next attempt to find a successor without waiting for one
  bool stalled_ = false;              // whether the analyzer is alive but makes no progress; claims do not wait for it
  std::int64_t idle_ns_ = 0;
  std::int64_t idle_reported_ns_ = 0;
};

}  // namespace ringside
