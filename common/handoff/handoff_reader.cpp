// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/handoff_reader.hpp"

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "common/handoff/futex_coordination.hpp"
#include "common/handoff/message_coordination.hpp"
#include "common/platform/clock.hpp"

namespace ringside {
namespace {

// 8 TiB an iterate, 512 times what a slot of the ring can hold (docs/ring_format.md). With this limit the sums of sizes
// below cannot overflow.
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 40;

AttachRequest checked_request(std::span<const std::byte> bytes, std::size_t fds) {
  AttachRequest request;
  if (bytes.size() != sizeof request) {
    throw usage_error("attach request of {} bytes, expected {}", bytes.size(), sizeof request);
  }
  std::memcpy(&request, bytes.data(), sizeof request);
  if (request.header.magic != kHandoffMagic || request.header.kind != MessageKind::kAttachRequest) {
    throw usage_error("the first message is not an attach request");
  }
  if (request.header.version != kHandoffVersion) {
    throw usage_error(
        "the producer speaks hand-off version {}, this analyzer version {}; use the same release for both",
        request.header.version, kHandoffVersion);
  }
  if (fds != 2) throw usage_error("attach request with {} file descriptors, expected 2", fds);
  if (request.buffers < kMinBuffers || request.buffers > kMaxBuffers) {
    throw usage_error("attach request for {} buffers, expected {} to {}", request.buffers, kMinBuffers, kMaxBuffers);
  }
  if (request.pool_use > PoolUse::kFreshAgain) {
    throw usage_error("attach request for use {} of the pool, expected 0 to 3",
                      static_cast<std::uint32_t>(request.pool_use));
  }
  if (request.coordination > CoordinationKind::kMessages) {
    throw usage_error("attach request for coordination {}, expected 0 or 1",
                      static_cast<std::uint32_t>(request.coordination));
  }
  if (request.elastic > 1) throw usage_error("attach request for elastic {}, expected 0 or 1", request.elastic);
  if (request.run.rows == 0 || request.run.rows > kMostRows) {
    throw usage_error("attach request for iterates of {} rows, expected 1 to {}", request.run.rows, kMostRows);
  }
  return request;
}

}  // namespace

void refuse(Peer& peer, const Error& error) noexcept {
  AttachReply reply;
  reply.exit_code = static_cast<std::uint32_t>(error.code());
  assign(reply.message, error.what());
  peer.send(std::as_bytes(std::span(&reply, 1)));  // a peer that has left meanwhile needs no answer
}

HandoffReader::HandoffReader(Peer peer, const std::string& socket, int timeout_ms, double peer_timeout_s)
    : peer_timeout_ns_(static_cast<std::int64_t>(peer_timeout_s * 1e9)), peer_(std::move(peer)) {
  std::array<std::byte, sizeof(AttachRequest) + 1> buffer;  // one more: shows a message that is too long
  auto received = peer_.receive(buffer, timeout_ms);
  if (!received) throw usage_error("the peer (pid {}) sent no attach request within {} ms", peer_.pid(), timeout_ms);
  if (received->bytes == 0 && !peer_.alive()) throw peer_error("the peer (pid {}) left before it asked", peer_.pid());
  request_ = checked_request(std::span(buffer).first(received->bytes), received->fds.size());
  // Text fields come from another process: terminate them, so that they end within their field.
  request_.run.solver[sizeof request_.run.solver - 1] = '\0';
  request_.run.matrix[sizeof request_.run.matrix - 1] = '\0';
  request_.run.parameters[sizeof request_.run.parameters - 1] = '\0';

  geometry_ = {request_.buffers, request_.run.rows};
  payload_ = SharedMapping::adopt(std::move(received->fds[0]), geometry_.total_bytes(), PeerAccess::kReadOnly);
  control_mapping_ = SharedMapping::adopt(std::move(received->fds[1]), sizeof(HandoffControl), PeerAccess::kReadWrite);
  control_ = reinterpret_cast<HandoffControl*>(control_mapping_.data());
  if (control_->magic != kHandoffMagic || control_->version != kHandoffVersion ||
      control_->buffers != request_.buffers || control_->rows != request_.run.rows) {
    throw usage_error("the control memory of the peer (pid {}) does not match its attach request", peer_.pid());
  }
  // Where an earlier analyzer stopped; 0 and 0 if there was none.
  next_step_ = control_->released.load(std::memory_order_acquire);
  const std::uint64_t published = control_->published.load(std::memory_order_acquire);
  if (next_step_ > published || published - next_step_ > request_.buffers) {
    throw usage_error("the peer (pid {}) reports that {} of {} published steps are committed, with {} buffers",
                      peer_.pid(), next_step_, published, request_.buffers);
  }
  epoch_ = control_->epoch.load(std::memory_order_relaxed) + 1;
  if (elastic()) producer_cores().forget_guests();
  try {
    coordinate(socket);
  } catch (const Error& error) {
    refuse(error);
    throw;
  }
}

/// With messages: listens before the reply, after which the producer connects.
void HandoffReader::coordinate(const std::string& socket) {
  if (request_.coordination == CoordinationKind::kLocks) {
    coordination_ = std::make_unique<FutexCoordination>(control_->released, control_->published);
    return;
  }
  messages_ = std::make_unique<ChannelContext>();
  coordination_ =
      std::make_unique<MessageCoordination>(*messages_, MessageCoordination::Side::kAnalyzer,
                                            MessageAddress{.socket = socket, .name = request_.name, .epoch = epoch_},
                                            control_->released, control_->published);
}

void HandoffReader::accept(const Continuation& from, const std::vector<int>& cores) {
  if (from.last) {
    // An earlier analyzer may have died between a commit and its release. The descriptor that it kept proves the
    // commit.
    const bool waits = control_->published.load(std::memory_order_acquire) > next_step_;
    const StepDescriptor waiting = descriptor_at(next_step_);
    if (waits && std::memcmp(&waiting, &*from.last, sizeof waiting) == 0) release();
    last_iteration_ = from.last->iteration;
  }
  for (std::uint32_t b = 0; b < geometry_.buffers; ++b) {
    payload_.populate(geometry_.buffer_offset(b), geometry_.rows * sizeof(double));
  }
  if (elastic()) lender_ = CoreLender(control_->analyzer_cores, cores);
  control_->epoch.store(epoch_, std::memory_order_relaxed);
  control_->analyzer_state.store(kAnalyzerServing, std::memory_order_release);
  AttachReply reply;
  reply.epoch = epoch_;
  assign(reply.message, from.note);
  std::vector<int> fds;
  if (from.resumed) {
    reply.resumed = 1;
    reply.run_id = *from.resumed;
    reply.kept = from.last.value();
    fds.push_back(from.payload.fd());
  }
  // If the producer is gone, the steps that it published before it died remain to be taken.
  if (!peer_.send(std::as_bytes(std::span(&reply, 1)), fds) && !wanted()) {
    throw peer_error("the producer (pid {}) hung up while attaching", peer_.pid());
  }
}

NextStatus HandoffReader::next(PublishedStep& step, bool may_spin, const std::atomic<bool>* stop,
                               Pulse* pulse) noexcept {
  if (all_taken_at_stop(stop)) return NextStatus::kStopped;
  const WaitLimits limits{.spin_ns = may_spin && !elastic() ? 2 * rhythm_.margin_ns() : 0,
                          .not_before_ns = rhythm_.expected_ns() - rhythm_.margin_ns(),
                          .timeout_ns = kNever,  // an iteration may take hours
                          .stopped_timeout_ns = peer_timeout_ns_,
                          .state = &control_->producer_state,
                          .state_that_ends = kProducerDetached,
                          .stop = stop,
                          .pulse = pulse};
  if (coordination_->seen() <= next_step_) lender_.lend(next_step_ + 1);
  const WaitResult result = coordination_->wait_until(next_step_ + 1, peer_, limits);
  lender_.take_back();
  switch (result) {
    case WaitResult::kReached: break;
    case WaitResult::kEnded: return NextStatus::kDetached;
    case WaitResult::kStopped:
      if (all_taken_at_stop(stop)) return peer_.alive() ? NextStatus::kStopped : NextStatus::kProducerLost;
      break;  // a step was published just before the check
    case WaitResult::kTimedOut: return NextStatus::kProducerStopped;
    case WaitResult::kPeerLost: return NextStatus::kProducerLost;
  }
  return take(step) ? NextStatus::kStep : NextStatus::kViolation;
}

bool HandoffReader::all_taken_at_stop(const std::atomic<bool>* stop) noexcept {
  if (stop == nullptr || !stop->load(std::memory_order_relaxed)) return false;
  if (!stop_at_) stop_at_ = control_->published.load(std::memory_order_acquire);
  return next_step_ >= *stop_at_;
}

/// Takes the next step, if the producer kept to the protocol: the contents of its memory are not trusted.
bool HandoffReader::take(PublishedStep& step) noexcept {
  const StepDescriptor descriptor = descriptor_at(next_step_);
  const std::uint64_t published = control_->published.load(std::memory_order_acquire);
  const bool kept_to_protocol =
      published > next_step_ && published - next_step_ <= geometry_.buffers && descriptor.step == next_step_ &&
      descriptor.iteration > last_iteration_ && descriptor.published_at_ns >= last_published_at_ns_ &&
      descriptor.published_at_ns <= now_ns() && descriptor.generate_ns >= 0 && descriptor.producer_idle_ns >= 0 &&
      descriptor.generate_ns <= descriptor.published_at_ns && descriptor.producer_idle_ns <= descriptor.published_at_ns;
  if (!kept_to_protocol) return false;
  last_iteration_ = descriptor.iteration;
  last_published_at_ns_ = descriptor.published_at_ns;
  rhythm_.observe(descriptor.published_at_ns);
  step.descriptor = descriptor;
  step.buffer = reinterpret_cast<const double*>(payload_.data() + geometry_.buffer_offset(next_step_));
  return true;
}

const StepDescriptor& HandoffReader::descriptor_at(std::uint64_t step) const noexcept {
  const auto* descriptors =
      reinterpret_cast<const StepDescriptor*>(payload_.data() + PayloadGeometry::descriptors_offset());
  return descriptors[step % geometry_.buffers];
}

void HandoffReader::release() noexcept {
  ++next_step_;
  // Release: this side's last read of the buffer comes before the producer's first write of a later step.
  control_->released.store(next_step_, std::memory_order_release);
  coordination_->announce();
}

void HandoffReader::farewell(ExitCode code, const std::string& message, bool stopping) noexcept {
  Farewell farewell;
  farewell.exit_code = static_cast<std::uint32_t>(code);
  farewell.stopping = stopping ? 1 : 0;
  farewell.steps_committed = next_step_;
  assign(farewell.message, message);
  peer_.send(std::as_bytes(std::span(&farewell, 1)));
  if (code != ExitCode::kDone) {
    control_->analyzer_state.store(kAnalyzerFailed, std::memory_order_release);
    coordination_->announce();
  }
}

Outcome HandoffReader::outcome() noexcept {
  std::array<std::byte, sizeof(Detach)> buffer;
  Detach detach;
  const auto received = peer_.receive(buffer, 1000);
  if (!received || received->bytes != sizeof detach) return Outcome::kFailed;
  std::memcpy(&detach, buffer.data(), sizeof detach);
  const bool well_formed = detach.header.magic == kHandoffMagic && detach.header.kind == MessageKind::kDetach &&
                           detach.outcome <= Outcome::kFailed;
  return well_formed ? detach.outcome : Outcome::kFailed;
}

}  // namespace ringside
