// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/handoff_reader.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <span>
#include <vector>

#include "common/handoff/futex_coordination.hpp"
#include "common/platform/clock.hpp"
#include "common/ranks/ranks_file.hpp"

namespace ringside {

void refuse(Peer& peer, const Error& error) noexcept {
  AttachReply reply;
  reply.exit_code = static_cast<std::uint32_t>(error.code());
  assign(reply.message, error.what());
  peer.send(std::as_bytes(std::span(&reply, 1)));  // a peer that has left needs no answer
}

namespace {

/// Returns a copy of the text in a peer's memfd, because the peer may change the original. The memfd may have any size.
std::string text_in(UniqueFd memfd) {
  struct stat status {};
  if (fstat(memfd.get(), &status) != 0 || status.st_size < 1 || status.st_size > static_cast<off_t>(kMostRanksBytes)) {
    throw usage_error("the peer passed a ranks file of {} bytes, expected 1 to {}", status.st_size, kMostRanksBytes);
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  const SharedMapping mapping = SharedMapping::adopt(std::move(memfd), bytes, PeerAccess::kReadOnly);
  return {reinterpret_cast<const char*>(mapping.data()), bytes};
}

}  // namespace

HandoffReader::HandoffReader(Peer peer, const std::string& socket, int timeout_ms, double peer_timeout_s,
                             MakeMessages messages)
    : peer_timeout_ns_(static_cast<std::int64_t>(peer_timeout_s * 1e9)), peer_(std::move(peer)) {
  std::vector<std::byte> buffer(kMostRequestBytes + 1);  // one extra byte, to detect a message that is too long
  auto received = peer_.receive(buffer, timeout_ms);
  if (!received) throw usage_error("the peer (pid {}) sent no attach request within {} ms", peer_.pid(), timeout_ms);
  if (received->hung_up) throw peer_error("the peer (pid {}) left before its attach request", peer_.pid());
  try {
    request_ = AttachRequest::decode(std::span(buffer).first(received->bytes), received->fds.size());

    geometry_ = {request_->head.buffers, request_->schema.payload_bytes()};
    payload_ = SharedMapping::adopt(std::move(received->fds[0]), geometry_.total_bytes(), PeerAccess::kReadOnly);
    control_mapping_ =
        SharedMapping::adopt(std::move(received->fds[1]), sizeof(HandoffControl), PeerAccess::kReadWrite);
    if (received->fds.size() == 3) ranks_ = text_in(std::move(received->fds[2]));
    control_ = reinterpret_cast<HandoffControl*>(control_mapping_.data());
    if (control_->magic != kHandoffMagic || control_->version != kHandoffVersion ||
        control_->buffers != geometry_.buffers || control_->payload_bytes != geometry_.payload_bytes) {
      throw usage_error("the peer (pid {}) passed control memory that does not match its attach request", peer_.pid());
    }
    // Start where an earlier analyzer stopped; both values are 0 if there was none.
    next_step_ = control_->released.load(std::memory_order_acquire);
    const std::uint64_t published = control_->published.load(std::memory_order_acquire);
    if (next_step_ > published || published - next_step_ > geometry_.buffers) {
      throw usage_error(
          "the peer (pid {}) reports that {} of {} published steps are committed, which is impossible with {} buffers",
          peer_.pid(), next_step_, published, geometry_.buffers);
    }
    ends_ = control_->run_ends.load(std::memory_order_acquire) != 0;
    epoch_ = control_->epoch.load(std::memory_order_relaxed) + 1;
    if (elastic()) {
      producer_cores().forget_guests();
      producer_lends_only_ = control_->lends_only.load(std::memory_order_relaxed) != 0;
    }
    coordinate(socket, messages);
  } catch (const Error& error) {
    refuse(error);
    throw;
  }
}

/// With messages: this side listens before it sends the reply, because the producer connects when it has the reply.
void HandoffReader::coordinate(const std::string& socket, MakeMessages messages) {
  if (coordination() == CoordinationKind::kLocks) {
    coordination_ = std::make_unique<FutexCoordination>(control_->released, control_->published);
    return;
  }
  messages_ = make_messages_with(messages, socket);
  const MessageAddress address{.socket = socket, .name = request_->head.name, .epoch = epoch_};
  coordination_ = messages_->coordinate(Side::kAnalyzer, address, control_->released, control_->published);
}

void HandoffReader::accept(const Continuation& from, const std::vector<int>& cores) {
  if (from.last) {
    // An earlier analyzer may have died between a commit and its release. The descriptor and the scalars in the ring
    // prove the commit.
    const bool waits = control_->published.load(std::memory_order_acquire) > next_step_;
    StepWithScalars waiting;
    copy_step(next_step_, waiting);
    if (waits && std::memcmp(&waiting, &*from.last, sizeof waiting) == 0) release();
    last_iteration_ = from.last->descriptor.iteration;
  }
  for (std::uint32_t b = 0; b < geometry_.buffers; ++b) {
    payload_.populate(geometry_.buffer_offset(b), geometry_.payload_bytes);
  }
  if (lends()) lender_ = CoreLender(control_->analyzer_cores, cores);
  control_->epoch.store(epoch_, std::memory_order_relaxed);
  control_->analyzer_state.store(kAnalyzerServing, std::memory_order_release);
  AttachReply reply;
  reply.epoch = epoch_;
  assign(reply.message, from.note);
  std::vector<int> fds;
  if (from.resumed) {
    reply.resumed = 1;
    reply.run_id = *from.resumed;
    reply.kept = from.last.value().descriptor;
    fds.push_back(from.kept.fd());
  }
  // Even if the producer has gone, the steps that it published before must still be taken.
  if (!peer_.send(std::as_bytes(std::span(&reply, 1)), fds) && !wanted()) {
    throw peer_error("the producer (pid {}) closed the connection while it attached", peer_.pid());
  }
}

NextStatus HandoffReader::next(PublishedStep& step, bool may_spin, StopFlag stop, Pulse* pulse) noexcept {
  if (all_taken_at_stop(stop)) return NextStatus::kStopped;
  const WaitLimits limits{.spin_ns = may_spin && !lends() ? 2 * rhythm_.margin_ns() : 0,
                          .not_before_ns = rhythm_.expected_ns() - rhythm_.margin_ns(),
                          .timeout_ns = kNever,  // an iteration may take hours
                          .stopped_timeout_ns = peer_timeout_ns_,
                          .state = &control_->producer_state,
                          .state_that_ends = kProducerDetached,
                          .lender = &lender_,
                          .stop = stop,
                          .pulse = pulse};
  switch (coordination_->wait_until(next_step_ + 1, peer_, limits)) {
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

bool HandoffReader::all_taken_at_stop(StopFlag stop) noexcept {
  if (!stop.is_set()) return false;
  // In a run that ends, the producer gets no further buffer, but a step in a buffer that it claimed earlier is still
  // taken.
  if (!stop_at_ || ends_) stop_at_ = control_->published.load(std::memory_order_acquire);
  return next_step_ >= *stop_at_;
}

/// Takes the next step, unless the producer's memory, which is not trusted, violates the protocol.
bool HandoffReader::take(PublishedStep& step) noexcept {
  copy_step(next_step_, step.step);
  step.arrived_ns = now_ns();
  const StepDescriptor& descriptor = step.step.descriptor;
  const std::uint64_t published = control_->published.load(std::memory_order_acquire);
  const bool kept_to_protocol =
      published > next_step_ && published - next_step_ <= geometry_.buffers && descriptor.step == next_step_ &&
      descriptor.iteration > last_iteration_ && descriptor.published_at_ns >= last_published_at_ns_ &&
      descriptor.published_at_ns <= step.arrived_ns && descriptor.generate_ns >= 0 &&
      descriptor.producer_idle_ns >= 0 && descriptor.generate_ns <= descriptor.published_at_ns &&
      descriptor.producer_idle_ns <= descriptor.published_at_ns;
  if (!kept_to_protocol) return false;
  last_iteration_ = descriptor.iteration;
  last_published_at_ns_ = descriptor.published_at_ns;
  rhythm_.observe(descriptor.published_at_ns);
  step.payload = payload_.data() + geometry_.buffer_offset(next_step_);
  return true;
}

/// Copies the description, because the producer can change the original at any time.
void HandoffReader::copy_step(std::uint64_t step, StepWithScalars& to) const noexcept {
  const std::uint64_t buffer = step % geometry_.buffers;
  std::memcpy(&to.descriptor, payload_.data() + PayloadGeometry::descriptors_offset() + buffer * sizeof(StepDescriptor),
              sizeof(StepDescriptor));
  const std::size_t declared = scalars().size();
  for (std::size_t s = declared; s < kDescriptorScalars; ++s) to.set_scalar(s, 0);
  const std::size_t further = declared > kDescriptorScalars ? declared - kDescriptorScalars : 0;
  std::memcpy(to.further, payload_.data() + PayloadGeometry::further_scalars_offset() + buffer * sizeof(to.further),
              further * sizeof(std::uint64_t));
  std::fill(to.further + further, std::end(to.further), 0);
}

void HandoffReader::release() noexcept {
  ++next_step_;
  // Release: this side's last read of the buffer comes before the producer's first write of a later step.
  control_->released.store(next_step_, std::memory_order_release);
  coordination_->announce();
}

void HandoffReader::end_run() noexcept {
  ends_ = true;
  // This value is stored before the next release, so that a producer that reads the release also reads this value.
  control_->run_ends.store(1, std::memory_order_release);
}

void HandoffReader::reply(double value) noexcept {
  control_->reply.store(std::bit_cast<std::uint64_t>(value), std::memory_order_relaxed);
  // Release: a producer that reads the count then reads this reply, or a later one.
  control_->replies.store(control_->replies.load(std::memory_order_relaxed) + 1, std::memory_order_release);
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
