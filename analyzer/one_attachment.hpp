// SPDX-License-Identifier: BSD-3-Clause
// The analyzer of `ringside run -- PROGRAM` serves one process, once (docs/publish/library.md). Every other request
// gets its reason at once, also during the run: whoever asks must not wait for the end of it, or of a time-out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <thread>

#include "analyzer/analyzer.hpp"
#include "common/handoff/reception.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

/// Who may attach, and why others may not.
class OneAttachment {
 public:
  /// publisher: the process that is attached to this analyzer's lost predecessor, and may come back; 0: none.
  explicit OneAttachment(pid_t publisher) : publisher_(publisher) {}

  /// Why `process` may not attach now; nothing if it may.
  std::optional<Error> refusal(pid_t process) const;

  void began(pid_t publisher) noexcept;
  /// iteration: the last that was committed.
  void ended(ServeEnd end, std::uint64_t iteration) noexcept;

 private:
  enum class State {
    kExpected,  // nothing is attached; the publisher may come, or come back after it was stopped by a signal
    kServed,
    kDetached,
    kLost
  };
  State state_ = State::kExpected;
  pid_t publisher_;
  std::uint64_t iteration_ = 0;
};

/// While it exists, a thread answers all requests with their refusal. It sleeps until one comes.
class RefusingThread {
 public:
  /// reception: used by this thread only. attachment: does not change meanwhile. Both outlive this object.
  RefusingThread(Reception& reception, const OneAttachment& attachment);
  ~RefusingThread();
  RefusingThread(const RefusingThread&) = delete;
  RefusingThread& operator=(const RefusingThread&) = delete;

 private:
  UniqueFd end_;  // readable: the thread ends
  std::jthread thread_;
};

/// Answers one request that has arrived.
void refuse_request(Peer& peer, const Error& reason) noexcept;

}  // namespace ringside
