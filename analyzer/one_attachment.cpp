// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/one_attachment.hpp"

#include <sys/eventfd.h>

#include <array>
#include <cstddef>
#include <exception>

#include "common/handoff/handoff_reader.hpp"

namespace ringside {
namespace {

constexpr int kSliceMs = 1000;

}  // namespace

std::optional<Error> OneAttachment::refusal(pid_t process) const {
  switch (state_) {
    case State::kExpected:
      if (publisher_ == 0 || process == publisher_) return std::nullopt;
      break;
    case State::kServed: break;
    case State::kDetached:
      return usage_error(
          "this run has ended at iteration {}; ringside run serves only one run; to serve several runs, start "
          "ringside-analyzer as a service",
          iteration_);
    case State::kLost:
      return usage_error(
          "this run has ended at iteration {}, because process {} left it without detaching; ringside run --resume "
          "continues it",
          iteration_, publisher_);
  }
  return usage_error(
      "process {} cannot attach: process {} publishes this run; expected one publishing process, for example rank 0",
      process, publisher_);
}

void OneAttachment::began(pid_t publisher) noexcept {
  publisher_ = publisher;
  state_ = State::kServed;
}

void OneAttachment::ended(ServeEnd end, std::uint64_t iteration) noexcept {
  iteration_ = iteration;
  switch (end) {
    case ServeEnd::kProducerStopped: state_ = State::kExpected; break;
    case ServeEnd::kProducerLost:
    case ServeEnd::kViolation: state_ = State::kLost; break;
    default: state_ = State::kDetached;
  }
}

RefusingThread::RefusingThread(Acceptor& acceptor, const OneAttachment& attachment)
    : end_(eventfd(0, EFD_CLOEXEC)),
      thread_([&acceptor, &attachment, end = end_.get()](const std::stop_token& stopping) {
        while (!stopping.stop_requested()) {
          try {
            std::optional<Peer> peer = acceptor.next(kSliceMs, end);
            if (!peer) continue;
            if (const std::optional<Error> reason = attachment.refusal(peer->pid())) refuse_request(*peer, *reason);
          } catch (const std::exception&) {  // no memory: the peer is turned away without a reason
          }
        }
      }) {}

RefusingThread::~RefusingThread() {
  thread_.request_stop();
  eventfd_write(end_.get(), 1);
}

void refuse_request(Peer& peer, const Error& reason) noexcept {
  std::array<std::byte, 8192> request;  // it is read first: closing with an unread message resets the connection
  (void)peer.receive(request, 0);
  refuse(peer, reason);
}

}  // namespace ringside
