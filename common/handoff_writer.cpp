#include "common/handoff_writer.hpp"

#include <array>
#include <cstring>
#include <new>
#include <span>

#include "common/clock.hpp"
#include "common/counter_wait.hpp"
#include "common/error.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// Detaching waits for the disk, which may take longer than a step: the analyzer is asked whether it lives, not hurried.
constexpr int kFarewellSliceMs = 200;

template <class Message>
bool parse(std::span<const std::byte> bytes, MessageKind kind, Message& message) {
  if (bytes.size() != sizeof(Message)) return false;
  std::memcpy(&message, bytes.data(), sizeof message);
  return message.header.magic == kHandoffMagic && message.header.version == kHandoffVersion &&
         message.header.kind == kind;
}

}  // namespace

HandoffWriter::HandoffWriter(const HandoffOptions& options, const RunDescription& run)
    : options_(options), geometry_{options.buffers, run.rows} {
  if (options.buffers < kMinBuffers || options.buffers > kMaxBuffers) {
    throw usage_error("--buffers: found {}, expected {} to {}", options.buffers, kMinBuffers, kMaxBuffers);
  }
  peer_ = Peer::connect(options.socket, options.peer_timeout_s);
  payload_ = SharedMapping::create("ringside-payload", geometry_.total_bytes(), PeerAccess::kReadOnly);
  control_mapping_ = SharedMapping::create("ringside-control", sizeof(HandoffControl), PeerAccess::kReadWrite);
  control_ = new (control_mapping_.data()) HandoffControl;
  control_->buffers = options.buffers;
  control_->rows = run.rows;

  AttachRequest request;
  request.buffers = options.buffers;
  request.may_overwrite = options.overwrite ? 1 : 0;
  request.run = run;
  const std::array<int, 2> fds = {payload_.fd(), control_mapping_.fd()};
  if (!peer_.send(std::as_bytes(std::span(&request, 1)), fds)) {
    throw peer_error("the analyzer at '{}' hung up before the run was attached", options.socket);
  }

  std::array<std::byte, sizeof(AttachReply)> buffer;
  // Creating a pool allocates and zeroes it, which takes as long as the disk takes; only a dead analyzer ends this wait.
  std::optional<Peer::Received> received;
  while (!(received = peer_.receive(buffer, kFarewellSliceMs))) {
    if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed)) {
      throw Error(ExitCode::kInterrupted, "interrupted while attaching to the analyzer");
    }
  }
  AttachReply reply;
  if (!parse(std::span(buffer).first(received->bytes), MessageKind::kAttachReply, reply)) {
    throw peer_error("the analyzer at '{}' closed the connection while attaching; see its log", options.socket);
  }
  if (reply.exit_code != 0) {
    throw Error(static_cast<ExitCode>(reply.exit_code), std::string(text_of(reply.message)));
  }
  control_->producer_state.store(kProducerRunning, std::memory_order_release);
}

Claim HandoffWriter::take_buffer() noexcept {
  return {ClaimStatus::kOk, reinterpret_cast<double*>(payload_.data() + geometry_.buffer_offset(next_step_))};
}

Claim HandoffWriter::claim() noexcept {
  // The rule of the buffers: step s may be written once released >= s + 1 - B. Acquire, so that our writes come after the
  // analyzer's last read of this buffer.
  if (next_step_ < geometry_.buffers) return take_buffer();
  const std::uint64_t needed = next_step_ + 1 - geometry_.buffers;
  if (control_->released.load(std::memory_order_acquire) >= needed) return take_buffer();

  const std::int64_t begin = now_ns();
  const WaitLimits limits{.spin_ns = options_.spin_ns,
                          .timeout_ns = static_cast<std::int64_t>(options_.peer_timeout_s * kSecondNs),
                          .state = &control_->analyzer_state,
                          .state_that_ends = kAnalyzerFailed,
                          .stop = options_.stop};
  const WaitResult result = wait_until(control_->released, needed, peer_, limits);
  idle_ns_ += now_ns() - begin;
  switch (result) {
    case WaitResult::kReached: return take_buffer();
    case WaitResult::kStopped: return {ClaimStatus::kStopped, nullptr};
    case WaitResult::kEnded:
    case WaitResult::kPeerLost:
    case WaitResult::kTimedOut: break;
  }
  const bool failed = control_->analyzer_state.load(std::memory_order_acquire) == kAnalyzerFailed;
  return {failed ? ClaimStatus::kAnalyzerFailed : ClaimStatus::kAnalyzerLost, nullptr};
}

Claim HandoffWriter::try_claim() noexcept {
  if (next_step_ < geometry_.buffers ||
      control_->released.load(std::memory_order_acquire) >= next_step_ + 1 - geometry_.buffers) {
    return take_buffer();
  }
  if (control_->analyzer_state.load(std::memory_order_acquire) == kAnalyzerFailed) {
    return {ClaimStatus::kAnalyzerFailed, nullptr};
  }
  if (!peer_.alive()) return {ClaimStatus::kAnalyzerLost, nullptr};
  ++skipped_;
  return {ClaimStatus::kFull, nullptr};
}

void HandoffWriter::publish(const StepReport& report) noexcept {
  auto* descriptors = reinterpret_cast<StepDescriptor*>(payload_.data() + PayloadGeometry::descriptors_offset());
  descriptors[next_step_ % geometry_.buffers] = {.step = next_step_,
                                                 .iteration = report.iteration,
                                                 .residual_l1 = report.residual_l1,
                                                 .residual_linf = report.residual_linf,
                                                 .generate_ns = report.generate_ns,
                                                 .producer_idle_ns = idle_ns_ - idle_reported_ns_,
                                                 .published_at_ns = now_ns(),
                                                 .skipped_before = skipped_ - skipped_reported_};
  idle_reported_ns_ = idle_ns_;
  skipped_reported_ = skipped_;
  ++next_step_;
  // Release: buffer and descriptor become visible before the counter says that they are there.
  control_->published.store(next_step_, std::memory_order_release);
  wake(control_->published);
}

std::optional<Farewell> HandoffWriter::farewell() {
  if (!farewell_) {
    std::array<std::byte, sizeof(Farewell)> buffer;
    Farewell message;
    const auto received = peer_.receive(buffer, 0);
    if (received && parse(std::span(buffer).first(received->bytes), MessageKind::kFarewell, message)) {
      farewell_ = message;
    }
  }
  return farewell_;
}

void HandoffWriter::detach(Outcome outcome) {
  control_->producer_state.store(kProducerDetached, std::memory_order_release);
  Detach detach;
  detach.outcome = outcome;
  detach.steps_published = next_step_;
  const bool sent = peer_.send(std::as_bytes(std::span(&detach, 1)));
  wake(control_->published);  // an analyzer asleep there finds the message at once

  std::array<std::byte, sizeof(Farewell)> buffer;
  while (!farewell_) {
    const auto received = peer_.receive(buffer, kFarewellSliceMs);
    if (!received) continue;
    Farewell message;
    if (!parse(std::span(buffer).first(received->bytes), MessageKind::kFarewell, message)) break;
    farewell_ = message;
  }
  if (!farewell_) {
    throw peer_error("the analyzer was lost{} after {} steps were published; what it had committed is in the pool",
                     sent ? " while it finished" : "", next_step_);
  }
  if (farewell_->exit_code != 0) {
    throw Error(static_cast<ExitCode>(farewell_->exit_code), std::string(text_of(farewell_->message)));
  }
}

}  // namespace ringside
