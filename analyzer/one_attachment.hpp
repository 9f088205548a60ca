// SPDX-License-Identifier: BSD-3-Clause
// The analyzer of `ringside run -- PROGRAM` serves one process, once (docs/publish/library.md). Every other request is
// refused at once with the reason, even during the run, so no requester waits for the run's end or a time-out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <thread>

#include "analyzer/analyzer.hpp"
#include "common/handoff/acceptor.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

/// Decides which process may attach, and gives every other process the reason.
class OneAttachment {
 public:
  /// publisher: the process that was attached to this analyzer's lost predecessor and may attach again; 0: none.
  explicit OneAttachment(pid_t publisher) : publisher_(publisher) {}

  /// The reason why `process` may not attach now; empty if it may.
  std::optional<Error> refusal(pid_t process) const;

  void began(pid_t publisher) noexcept;
  /// iteration: the iteration of the last committed step.
  void ended(ServeEnd end, std::uint64_t iteration) noexcept;

 private:
  enum class State {
    kExpected,  // nothing is attached; the publisher may attach, or attach again after a signal stopped it
    kServed,
    kDetached,
    kLost
  };
  State state_ = State::kExpected;
  pid_t publisher_;
  std::uint64_t iteration_ = 0;
};

/// While this object exists, a thread refuses all requests. It sleeps until a request arrives.
class RefusingThread {
 public:
  /// acceptor: used by this thread only. attachment: unchanged while this object exists. Both must outlive this object.
  RefusingThread(Acceptor& acceptor, const OneAttachment& attachment);
  ~RefusingThread();
  RefusingThread(const RefusingThread&) = delete;
  RefusingThread& operator=(const RefusingThread&) = delete;

 private:
  UniqueFd end_;  // an eventfd: the thread ends when it is readable
  std::jthread thread_;
};

/// Refuses one request that has arrived.
void refuse_request(Peer& peer, const Error& reason) noexcept;

}  // namespace ringside
