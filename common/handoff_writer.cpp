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

// Attaching (a pool may have to be made) and detaching (all must be on the disk) take longer than a step does: so many
// times the peer's time-out.
constexpr std::int64_t kDiskPatience = 20;
constexpr int kReceiveSliceMs = 200;

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
  peer_ = Peer::connect(options.socket, options.peer_timeout_s, options.stop);
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
  const std::int64_t deadline = now_ns() + kDiskPatience * timeout_ns();
  std::optional<Peer::Received> received;
  while (!(received = peer_.receive(buffer, kReceiveSliceMs))) {
    if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed)) {
      throw Error(ExitCode::kInterrupted, "interrupted while attaching to the analyzer");
    }
    if (now_ns() > deadline) {
      throw peer_error("the analyzer at '{}' did not answer the request to attach within {} s", options.socket,
                       static_cast<double>(kDiskPatience) * options.peer_timeout_s);
    }
  }
  AttachReply reply;
  if (!parse(std::span(buffer).first(received->bytes), MessageKind::kAttachReply, reply)) {
    throw peer_error("the analyzer at '{}' closed the connection while attaching; see its log", options.socket);
  }
  if (reply.exit_code != 0) {
    throw Error(static_cast<ExitCode>(reply.exit_code), std::string(text_of(reply.message)));
  }
  for (std::uint32_t b = 0; b < options.buffers; ++b) {
    payload_.populate(geometry_.buffer_offset(b), run.rows * sizeof(double));
  }
  control_->producer_state.store(kProducerRunning, std::memory_order_release);
}

Claim HandoffWriter::take_buffer() noexcept {
  return {ClaimStatus::kOk, reinterpret_cast<double*>(payload_.data() + geometry_.buffer_offset(next_step_))};
}

Claim HandoffWriter::claim(const std::atomic<bool>* stop) noexcept {
  // The rule of the buffers: step s may be written once released >= s + 1 - B. Acquire, so that our writes come after
  // the analyzer's last read of this buffer.
  if (next_step_ < geometry_.buffers) return take_buffer();
  const std::uint64_t needed = next_step_ + 1 - geometry_.buffers;
  if (control_->released.load(std::memory_order_acquire) >= needed) return take_buffer();

  const std::int64_t begin = now_ns();
  const WaitLimits limits{.spin_ns = options_.spin_ns,
                          .timeout_ns = timeout_ns(),
                          .state = &control_->analyzer_state,
                          .state_that_ends = kAnalyzerFailed,
                          .stop = stop};
  const WaitResult result = wait_until(control_->released, needed, peer_, limits);
  idle_ns_ += now_ns() - begin;
  switch (result) {
    case WaitResult::kReached: return take_buffer();
    case WaitResult::kStopped: return {ClaimStatus::kStopped, nullptr};
    case WaitResult::kTimedOut: return {ClaimStatus::kAnalyzerStalled, nullptr};
    case WaitResult::kEnded:
    case WaitResult::kPeerLost: break;
  }
  const bool failed = control_->analyzer_state.load(std::memory_order_acquire) == kAnalyzerFailed;
  return {failed ? ClaimStatus::kAnalyzerFailed : ClaimStatus::kAnalyzerLost, nullptr};
}

Claim HandoffWriter::try_claim() noexcept {
  if (next_step_ < geometry_.buffers ||
      control_->released.load(std::memory_order_acquire) >= next_step_ + 1 - geometry_.buffers) {
    full_since_ns_ = 0;
    return take_buffer();
  }
  if (control_->analyzer_state.load(std::memory_order_acquire) == kAnalyzerFailed) {
    return {ClaimStatus::kAnalyzerFailed, nullptr};
  }
  if (!peer_.alive()) return {ClaimStatus::kAnalyzerLost, nullptr};
  const std::int64_t now = now_ns();
  if (full_since_ns_ == 0) full_since_ns_ = now;
  if (now - full_since_ns_ > timeout_ns()) return {ClaimStatus::kAnalyzerStalled, nullptr};
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

std::int64_t HandoffWriter::timeout_ns() const noexcept {
  return static_cast<std::int64_t>(options_.peer_timeout_s * kSecondNs);
}

/// False while there is nothing to read. A hang-up, or anything else than a farewell, leaves `farewell_` empty.
bool HandoffWriter::receive_farewell(int timeout_ms) {
  std::array<std::byte, sizeof(Farewell)> buffer;
  const auto received = peer_.receive(buffer, timeout_ms);
  if (!received) return false;
  Farewell message;
  if (parse(std::span(buffer).first(received->bytes), MessageKind::kFarewell, message)) farewell_ = message;
  return true;
}

std::optional<Farewell> HandoffWriter::farewell() {
  if (!farewell_) receive_farewell(0);
  return farewell_;
}

void HandoffWriter::detach(Outcome outcome) {
  control_->producer_state.store(kProducerDetached, std::memory_order_release);
  Detach detach;
  detach.outcome = outcome;
  detach.steps_published = next_step_;
  peer_.send(std::as_bytes(std::span(&detach, 1)));
  wake(control_->published);  // an analyzer asleep there finds the message at once

  // First the copies, during which a lack of progress tells a stalled analyzer; then the disk, which may take its time.
  WaitResult copied = WaitResult::kReached;
  if (!farewell_) {
    const WaitLimits limits{
        .timeout_ns = timeout_ns(), .state = &control_->analyzer_state, .state_that_ends = kAnalyzerFailed};
    copied = wait_until(control_->released, next_step_, peer_, limits);
  }
  const std::int64_t deadline = now_ns() + kDiskPatience * timeout_ns();
  while (!farewell_ && copied != WaitResult::kTimedOut && now_ns() < deadline) {
    if (receive_farewell(kReceiveSliceMs)) break;
  }
  if (!farewell_) {
    throw peer_error(
        "the analyzer was lost while it finished, after {} steps were published; what it had committed is in "
        "the pool",
        next_step_);
  }
  if (farewell_->exit_code != 0) {
    throw Error(static_cast<ExitCode>(farewell_->exit_code), std::string(text_of(farewell_->message)));
  }
  if (farewell_->steps_committed != next_step_) {
    throw peer_error("the analyzer left after it had committed {} of {} published steps", farewell_->steps_committed,
                     next_step_);
  }
}

}  // namespace ringside
