// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/handoff_writer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <thread>
#include <utility>

#include "common/handoff/futex_coordination.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/text/formatted.hpp"

namespace ringside {
namespace {

std::int64_t seconds_to_ns(double seconds) noexcept {
  return static_cast<std::int64_t>(seconds * 1e9);
}

// Attaching (a pool may have to be made) and detaching (everything must reach the disk) take longer than a step. Each
// of them may take this many times the peer's time-out.
constexpr int kDiskPatience = 20;
constexpr int kReceiveSliceMs = 200;
// A step may take only microseconds, and so may a connect.
constexpr std::chrono::nanoseconds kBetweenAttempts = std::chrono::milliseconds(10);

template <class Message>
bool parse(std::span<const std::byte> bytes, MessageKind kind, Message& message) noexcept {
  if (bytes.size() != sizeof(Message)) return false;
  std::memcpy(&message, bytes.data(), sizeof message);
  return message.header.magic == kHandoffMagic && message.header.version == kHandoffVersion &&
         message.header.kind == kind;
}

}  // namespace

HandoffWriter::HandoffWriter(const HandoffOptions& options, const RunDescription& run, Schema variables,
                             std::vector<Scalar> scalars)
    : options_(options),
      request_(run, std::move(variables), std::move(scalars)),
      geometry_{options.buffers, schema().payload_bytes()} {
  if (options.buffers < kMinBuffers || options.buffers > kMaxBuffers) {
    throw usage_error("--buffers: found {}, expected {} to {}", options.buffers, kMinBuffers, kMaxBuffers);
  }
  if (options.coordination == CoordinationKind::kMessages) {
    // Throws at once if the name is too long, instead of only when an analyzer listens.
    messages_.reset(make_messages_with(options.messages, options.socket).release());
  }
  // Connect before allocating memory, which is not needed without an analyzer.
  Peer peer = Peer::connect(options.socket, options.peer_timeout_s, options.stop, options.while_waiting);
  payload_ = SharedMapping::create_for_cohort("ringside-payload", geometry_.total_bytes());
  control_mapping_ = SharedMapping::create("ringside-control", sizeof(HandoffControl), PeerAccess::kReadWrite);
  control_ = new (control_mapping_.data()) HandoffControl;
  control_->buffers = options.buffers;
  control_->payload_bytes = geometry_.payload_bytes;
  if (options_.sharing != nullptr) options_.sharing->share(payload_, control_mapping_);
  payload_.seal(PeerAccess::kReadOnly);
  if (!options.ranks.empty()) {
    ranks_ = SharedMapping::create("ringside-ranks", options.ranks.size(), PeerAccess::kReadOnly);
    std::memcpy(ranks_.data(), options.ranks.data(), options.ranks.size());
  }
  if (options.elastic) {
    lender_ = CoreLender(control_->producer_cores, options.cores);
    control_->lends_only.store(options.lends_only ? 1 : 0, std::memory_order_relaxed);
  }

  ask(std::move(peer));
  attach(options.peer_timeout_s, kDiskPatience * options.peer_timeout_s);
  for (std::uint32_t b = 0; b < options.buffers; ++b) {
    payload_.populate(geometry_.buffer_offset(b), geometry_.payload_bytes);
  }
}

// --- finding an analyzer -----------------------------------------------------------------------------------------

/// Sends the request to attach. If the peer has already gone, the wait for its answer detects this.
void HandoffWriter::ask(Peer peer) {
  peer_ = std::move(peer);
  farewell_.reset();
  AttachRequestHead& head = request_.head;
  head.buffers = options_.buffers;
  head.pool_use = pool_use();
  head.coordination = options_.coordination;
  head.elastic = options_.elastic ? 1 : 0;
  head.resume_from = head.pool_use == PoolUse::kResume ? options_.resume_from : 0;
  head.name = name_ = random_id();
  // A path that is too long is left out, because a shortened path would name another pool.
  assign(head.pool, options_.pool.size() < sizeof head.pool ? options_.pool : "");
  const std::array<int, 3> fds = {payload_.fd(), control_mapping_.fd(), ranks_.fd()};
  peer_.send(request_.encode(), std::span(fds).first(ranks_.fd() >= 0 ? 3 : 2));
  link_ = Link::kAsked;
  asked_before_ = true;
}

PoolUse HandoffWriter::pool_use() const noexcept {
  // Once a step of this run is committed, the pool contains this run's iterates. If the pool contains other iterates
  // now, these were stored later: they are not the iterates that the user wanted to discard or to continue from.
  if (committed_any()) return PoolUse::kFresh;
  return asked_before_ && options_.pool_use == PoolUse::kFresh ? PoolUse::kFreshAgain : options_.pool_use;
}

/// True once the analyzer has accepted the request. Throws Error if the analyzer refuses the request. If the analyzer
/// hangs up without an answer, the writer returns to its state before the request: an analyzer that ends closes its
/// socket first, and may then take long to close its pool.
bool HandoffWriter::answered(int timeout_ms) {
  std::array<std::byte, sizeof(AttachReply)> buffer;
  std::optional<Peer::Received> received = peer_.receive(buffer, timeout_ms);
  if (!received) return false;
  link_ = Link::kNone;
  if (received->hung_up) return false;
  AttachReply reply;
  if (!parse(std::span(buffer).first(received->bytes), MessageKind::kAttachReply, reply)) {
    throw peer_error("the analyzer at '{}' does not answer the request as this version does; expected the same version",
                     options_.socket);
  }
  if (reply.exit_code != 0) {
    throw RefusedError(documented_exit_code(reply.exit_code), std::string(text_of(reply.message)));
  }
  take_in(reply, *received);
  return true;
}

void HandoffWriter::take_in(const AttachReply& reply, Peer::Received& received) {
  note_ = text_of(reply.message);
  if (reply.resumed != 0) {
    if (received.fds.size() != 1 || next_step_ != 0) {
      throw peer_error(
          "the analyzer at '{}' reports that the run continues: found {} iterates to continue from, and {} published "
          "steps; expected one iterate and no step",
          options_.socket, received.fds.size(), next_step_);
    }
    const std::size_t scalars = kept_scalars_offset(geometry_.payload_bytes);
    kept_ = KeptStep{.run_id = reply.run_id,
                     .iteration = reply.kept.iteration,
                     .memory = SharedMapping::adopt(std::move(received.fds[0]), scalars + sizeof(KeptScalars),
                                                    PeerAccess::kReadOnly),
                     .scalars = {}};
    std::memcpy(&kept_->scalars, kept_->memory.data() + scalars, sizeof(KeptScalars));
    request_.head.run.run_id = reply.run_id;  // identifies the run to a successor
  }
  coordinate(reply.epoch);
  link_ = Link::kAttached;
  full_since_ns_ = 0;
  control_->producer_state.store(kProducerRunning, std::memory_order_release);
}

/// With messages: connects to the analyzer of this attachment.
void HandoffWriter::coordinate(std::uint64_t epoch) {
  if (options_.coordination == CoordinationKind::kLocks) {
    // With `sharing`, several processes sleep until `released` grows, so that no word tells whether one of them does.
    SleepWords words{
        .peer = &control_->analyzer_sleep, .peer_epoch = &control_->analyzer_sleep_epoch, .epoch = &control_->epoch};
    if (options_.sharing == nullptr) {
      words.own = &control_->producer_sleep;
      words.own->store(kAwake, std::memory_order_relaxed);
    }
    coordination_.reset(new FutexCoordination(control_->published, control_->released, words));
    return;
  }
  const MessageAddress address{.socket = options_.socket, .name = name_, .epoch = epoch};
  coordination_.reset(
      messages_->coordinate(Side::kProducer, address, control_->published, control_->released).release());
  coordination_->announce();
}

/// Waits until an analyzer has accepted the request: up to connect_s seconds until an analyzer listens, again after an
/// analyzer that had the request hangs up, and in total up to answer_s seconds for an answer. Throws Error: exit code 4
/// when the time is over, 130 once `stop` is set, or the analyzer's own code if the analyzer refuses.
void HandoffWriter::attach(double connect_s, double answer_s) {
  std::int64_t asked_ns = now_ns();
  std::int64_t connect_by = asked_ns + seconds_to_ns(connect_s);
  const std::int64_t answer_by = asked_ns + seconds_to_ns(answer_s);
  while (true) {
    if (link_ == Link::kNone) {
      const auto left_ns = std::max<std::int64_t>(connect_by - now_ns(), 0);
      ask(Peer::connect(options_.socket, static_cast<double>(left_ns) * 1e-9, options_.stop));
      asked_ns = now_ns();
    }
    if (answered(kReceiveSliceMs)) return;
    if (stop_wanted()) throw Error(ExitCode::kInterrupted, "interrupted while attaching to the analyzer");
    if (link_ == Link::kNone) {
      const bool had_the_request = now_ns() - asked_ns > kReceiveSliceMs * std::int64_t{1'000'000};
      if (had_the_request) connect_by = now_ns() + seconds_to_ns(connect_s);
      if (now_ns() > std::min(connect_by, answer_by)) {
        throw peer_error("the analyzer at '{}' closed each connection without an answer, for {} s; see its log",
                         options_.socket, connect_s);
      }
      std::this_thread::sleep_for(kBetweenAttempts);
    } else if (now_ns() > answer_by) {
      link_ = Link::kNone;
      throw peer_error("the analyzer at '{}' did not answer the request to attach within {} s", options_.socket,
                       answer_s);
    }
  }
}

/// Called when the analyzer has been lost: acts as `policy` requires. kOk: another analyzer took over.
ClaimStatus HandoffWriter::reattach(OnAnalyzerLoss policy) noexcept {
  // The causes of an earlier failure do not explain the next one.
  no_memory_ = false;
  refusal_.reset();
  if (policy == OnAnalyzerLoss::kStop) return ClaimStatus::kAnalyzerLost;
  const std::int64_t begin = now_ns();
  ClaimStatus status = ClaimStatus::kOk;
  try {
    if (policy == OnAnalyzerLoss::kContinue) {
      if (!try_reattach()) return ClaimStatus::kFull;
    } else {
      attach(options_.peer_timeout_s, options_.peer_timeout_s);
    }
  } catch (const Error& error) {
    switch (error.code()) {
      case ExitCode::kInterrupted: status = ClaimStatus::kStopped; break;
      case ExitCode::kPeerLost: status = ClaimStatus::kAnalyzerLost; break;
      default: refusal_ = error; status = ClaimStatus::kAnalyzerFailed;
    }
  } catch (const std::exception&) {
    no_memory_ = true;
    status = ClaimStatus::kAnalyzerFailed;
  }
  if (status != ClaimStatus::kOk) {
    // Give up the attempt: hanging up frees the analyzer for other producers, and a later claim starts a new attempt.
    link_ = Link::kNone;
    peer_ = Peer();
  }
  idle_ns_ += now_ns() - begin;
  return status;
}

bool HandoffWriter::try_reattach() {
  if (link_ == Link::kNone) {
    if (now_ns() < next_attempt_ns_) return false;
    next_attempt_ns_ = now_ns() + kBetweenAttempts.count();
    std::optional<Peer> peer = Peer::try_connect(options_.socket);
    if (!peer) return false;
    ask(std::move(*peer));
  }
  return answered(0);
}

// --- claim, publish ----------------------------------------------------------------------------------------------

Claim HandoffWriter::claim(When when, OnAnalyzerLoss policy, StopFlag stop) noexcept {
  if (!process_.is_owner()) return {ClaimStatus::kAnalyzerFailed, nullptr};
  const bool continues = policy == OnAnalyzerLoss::kContinue;
  while (true) {
    Claim claim{ClaimStatus::kAnalyzerLost, nullptr};
    if (link_ == Link::kAttached) {
      claim = when == When::kNow || (stalled_ && continues) ? look_for_buffer() : wait_for_buffer(stop);
      // A stalled analyzer counts as stalled until it frees a buffer, no matter how often the buffers are checked
      // meanwhile.
      const bool still = stalled_ && claim.status == ClaimStatus::kFull;
      stalled_ = continues && (still || claim.status == ClaimStatus::kAnalyzerStalled);
      if (stalled_) claim.status = ClaimStatus::kFull;
    }
    if (claim.status == ClaimStatus::kAnalyzerLost) {
      if (link_ == Link::kAttached) link_ = Link::kNone;
      claim.status = reattach(policy);
      if (claim.status == ClaimStatus::kOk) continue;
    }
    return claim;
  }
}

Claim HandoffWriter::claim_at_once() noexcept {
  const bool at_once = process_.is_owner() && link_ == Link::kAttached && buffer_is_free() && !run_ends();
  if (!at_once) return {ClaimStatus::kFull, nullptr};
  stalled_ = false;
  return take_buffer();
}

Claim HandoffWriter::take_buffer() noexcept {
  full_since_ns_ = 0;
  claimed_ = true;
  if (const std::uint64_t count = control_->replies.load(std::memory_order_acquire); count != replies_.count) {
    replies_ = {count, std::bit_cast<double>(control_->reply.load(std::memory_order_relaxed))};
  }
  return {ClaimStatus::kOk, payload_.data() + geometry_.buffer_offset(next_step_)};
}

bool HandoffWriter::committed_any() const noexcept {
  return control_->released.load(std::memory_order_acquire) != 0;
}

bool HandoffWriter::buffer_is_free() noexcept {
  // The rule of the buffers: step s may be written once released >= s + 1 - B. `seen` acquires, so that this side's
  // writes come after the analyzer's last read of this buffer.
  return next_step_ < geometry_.buffers || coordination_->seen() >= next_step_ + 1 - geometry_.buffers;
}

Claim HandoffWriter::wait_for_buffer(StopFlag stop) noexcept {
  if (buffer_is_free()) return run_ends() ? wait_for_end(true) : take_buffer();

  const std::int64_t begin = now_ns();
  const std::uint64_t released_then = next_step_ + 1 - geometry_.buffers;
  const bool borrows = options_.elastic && !options_.lends_only;
  const WaitLimits limits{.spin_ns = borrows ? 0 : options_.spin_ns,
                          .timeout_ns = timeout_ns(),
                          .state = &control_->analyzer_state,
                          .state_that_ends = kAnalyzerFailed,
                          .lender = &lender_,
                          .stop = options_.sharing != nullptr ? options_.sharing->ends_wait() : stop,
                          .pulse = options_.sharing};
  WaitResult result;
  std::uint64_t published;
  do {
    published = control_->published.load(std::memory_order_acquire);
    result = coordination_->wait_until(released_then, peer_, limits);
  } while (result == WaitResult::kTimedOut && lacked_parts(published));
  idle_ns_ += now_ns() - begin;
  switch (result) {
    case WaitResult::kReached: return run_ends() ? wait_for_end(true) : take_buffer();
    case WaitResult::kStopped: return {ClaimStatus::kStopped, nullptr};
    case WaitResult::kTimedOut: return {ClaimStatus::kAnalyzerStalled, nullptr};
    case WaitResult::kEnded:
    case WaitResult::kPeerLost: break;
  }
  return {lost_or_failed(), nullptr};
}

/// True if, for at least a part of the time, the analyzer had nothing to commit because other processes had not yet
/// written their parts. published: the counter at the beginning of that time.
bool HandoffWriter::lacked_parts(std::uint64_t published) const noexcept {
  if (options_.sharing == nullptr) return false;
  const std::uint64_t released = control_->released.load(std::memory_order_acquire);
  const std::uint64_t published_now = control_->published.load(std::memory_order_acquire);
  return published_now == released || published_now != published;
}

Claim HandoffWriter::look_for_buffer() noexcept {
  if (buffer_is_free()) return run_ends() ? wait_for_end(false) : take_buffer();
  if (control_->analyzer_state.load(std::memory_order_acquire) == kAnalyzerFailed || !peer_.alive()) {
    return {lost_or_failed(), nullptr};
  }
  const std::int64_t now = now_ns();
  if (full_since_ns_ == 0) full_since_ns_ = now;
  return {now - full_since_ns_ > timeout_ns() ? ClaimStatus::kAnalyzerStalled : ClaimStatus::kFull, nullptr};
}

/// A trigger has ended the run. The farewell names that trigger, and is sent when every published step is on the
/// analyzer's disk.
Claim HandoffWriter::wait_for_end(bool waits) noexcept {
  const std::int64_t begin = now_ns();
  bool answered = farewell_ || receive_farewell(0);
  while (waits && !answered && now_ns() - begin < kDiskPatience * timeout_ns()) {
    answered = receive_farewell(kReceiveSliceMs);
  }
  idle_ns_ += now_ns() - begin;
  if (answered) return {lost_or_failed(), nullptr};
  return {waits ? ClaimStatus::kAnalyzerStalled : ClaimStatus::kFull, nullptr};
}

/// The analyzer has left: kAnalyzerFailed if it left with an error, kAnalyzerLost if another one may take over.
ClaimStatus HandoffWriter::lost_or_failed() noexcept {
  if (!farewell_) receive_farewell(0);
  const bool failed = farewell_ && farewell_->exit_code != 0 && farewell_->stopping == 0;
  return failed ? ClaimStatus::kAnalyzerFailed : ClaimStatus::kAnalyzerLost;
}

/// A run that is to stop does not wait for a lost analyzer.
OnAnalyzerLoss HandoffWriter::loss_at_the_end() const noexcept {
  const bool stops = stop_wanted() || options_.on_analyzer_loss == OnAnalyzerLoss::kStop;
  return stops ? OnAnalyzerLoss::kStop : OnAnalyzerLoss::kWait;
}

void HandoffWriter::publish(const StepReport& report, std::span<const ScalarValue> scalars) noexcept {
  if (!process_.is_owner() || !std::exchange(claimed_, false)) return;
  const std::uint64_t buffer = next_step_ % geometry_.buffers;
  const std::size_t declared = request_.scalars.size();
  auto* further = reinterpret_cast<std::uint64_t*>(payload_.data() + PayloadGeometry::further_scalars_offset()) +
                  buffer * kMostFurtherScalars;
  for (std::size_t s = kDescriptorScalars; s < declared; ++s) {
    further[s - kDescriptorScalars] = s < scalars.size() ? scalars[s].word : 0;
  }
  const auto first_two = [&](std::size_t s) { return s < declared && s < scalars.size() ? scalars[s].f64() : 0.0; };
  auto* descriptors = reinterpret_cast<StepDescriptor*>(payload_.data() + PayloadGeometry::descriptors_offset());
  const StepDescriptor descriptor{.step = next_step_,
                                  .iteration = report.iteration,
                                  .residual_l1 = first_two(0),
                                  .residual_linf = first_two(1),
                                  .generate_ns = report.generate_ns,
                                  .producer_idle_ns = idle_ns_ - idle_reported_ns_,
                                  .published_at_ns = now_ns(),
                                  .skipped_before = skipped_ - skipped_reported_};
  descriptors[buffer] = descriptor;
  idle_reported_ns_ = idle_ns_;
  skipped_reported_ = skipped_;
  ++next_step_;
  if (options_.sharing != nullptr) return options_.sharing->arrive(descriptor);
  // Release: buffer and descriptor become visible before the counter that announces them.
  control_->published.store(next_step_, std::memory_order_release);
  coordination_->announce();
}

// --- the end -----------------------------------------------------------------------------------------------------

void HandoffWriter::detach(Outcome outcome) {
  if (!process_.is_owner()) throw process_.misuse();
  while (!leave(outcome)) {
    link_ = Link::kNone;
    const ClaimStatus status = reattach(loss_at_the_end());
    if (status != ClaimStatus::kOk) throw failure(status);
  }
}

/// Detaches from the present analyzer and waits for its farewell; false if the analyzer was lost first.
bool HandoffWriter::leave(Outcome outcome) {
  if (link_ != Link::kAttached) return false;
  control_->producer_state.store(kProducerDetached, std::memory_order_release);
  Detach detach;
  detach.outcome = outcome;
  detach.steps_published = next_step_;
  peer_.send(std::as_bytes(std::span(&detach, 1)));
  coordination_->announce_state();  // a sleeping analyzer wakes and finds the message at once

  // First wait for the analyzer to copy the steps: if the counter stands still, the analyzer is stalled. Then wait for
  // the disk, which may take long.
  if (!farewell_) {
    const WaitLimits limits{.timeout_ns = timeout_ns(),
                            .state = &control_->analyzer_state,
                            .state_that_ends = kAnalyzerFailed,
                            .lender = &lender_};
    if (coordination_->wait_until(next_step_, peer_, limits) == WaitResult::kTimedOut) {
      throw failure(ClaimStatus::kAnalyzerStalled);
    }
  }
  const std::int64_t deadline = now_ns() + kDiskPatience * timeout_ns();
  while (!farewell_ && !receive_farewell(kReceiveSliceMs)) {
    if (now_ns() >= deadline) throw failure(ClaimStatus::kAnalyzerStalled);
  }
  if (!farewell_ || farewell_->stopping != 0) return farewell_ && farewell_->steps_committed == next_step_;
  if (farewell_->exit_code != 0) throw failure(ClaimStatus::kAnalyzerFailed);
  if (farewell_->steps_committed != next_step_) {
    throw peer_error("the analyzer left after it had committed {} of {} published steps", farewell_->steps_committed,
                     next_step_);
  }
  return true;
}

/// False while there is nothing to read. A hang-up, or any message but a farewell, leaves `farewell_` empty.
bool HandoffWriter::receive_farewell(int timeout_ms) noexcept {
  std::array<std::byte, sizeof(Farewell)> buffer;
  const auto received = peer_.receive(buffer, timeout_ms);
  if (!received) return false;
  Farewell message;
  if (parse(std::span(buffer).first(received->bytes), MessageKind::kFarewell, message)) farewell_ = message;
  return true;
}

Error HandoffWriter::failure(ClaimStatus status) {
  if (!process_.is_owner()) return process_.misuse();
  if (refusal_) return *refusal_;
  if (no_memory_ && status == ClaimStatus::kAnalyzerFailed) {
    return system_error("out of memory while attaching to another analyzer at '{}', after {} steps were published",
                        options_.socket, next_step_);
  }
  if (status == ClaimStatus::kStopped) return {ExitCode::kInterrupted, "interrupted while the analyzer was gone"};
  if (status == ClaimStatus::kAnalyzerStalled) {
    return peer_error("the analyzer made no progress for {} s (--peer-timeout), after {} steps were published",
                      options_.peer_timeout_s, next_step_);
  }
  if (!farewell_ && status == ClaimStatus::kAnalyzerFailed) receive_farewell(0);
  if (farewell_ && farewell_->exit_code != 0) {
    return {documented_exit_code(farewell_->exit_code), std::string(text_of(farewell_->message))};
  }
  const bool waited = loss_at_the_end() == OnAnalyzerLoss::kWait;
  return peer_error(
      "the analyzer was lost after {} steps were published{}; its committed steps are in the pool", next_step_,
      waited ? formatted(", and no other took over within {} s (--peer-timeout)", options_.peer_timeout_s) : "");
}

bool HandoffWriter::stop_wanted() const noexcept {
  return options_.stop.is_set();
}

std::int64_t HandoffWriter::timeout_ns() const noexcept {
  return seconds_to_ns(options_.peer_timeout_s);
}

}  // namespace ringside
