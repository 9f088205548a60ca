// SPDX-License-Identifier: BSD-3-Clause
// Access over tcp: ZeroMQ asks the handler about the public key of each client that connects (RFC 27, ZAP), and the
// handler answers from a list, such as the one in the keys' folder. It fails closed: if the list cannot be read, no client
// is admitted. The list is read for each question, so that a client is added or removed without a restart.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/messages/channel.hpp"

namespace ringside {

/// Used by one thread.
class ZapHandler {
 public:
  /// The public keys of those that are let in. It may throw.
  using Allowed = std::function<std::vector<std::string>()>;

  /// allowed: is asked once now, and throws Error. list: names it in the log. Make it before any channel of the same context
  /// listens on tcp.
  ZapHandler(ChannelContext& context, Allowed allowed, std::string list);

  /// Answers the waiting questions, up to a limit per call.
  void answer() noexcept;
  /// Where they arrive, to be waited for.
  Channel& questions() noexcept { return questions_; }

 private:
  bool is_allowed(const std::string& key) noexcept;
  void log_turned_away() noexcept;

  Allowed allowed_;
  std::string list_;
  Channel questions_;
  std::vector<std::string> frames_;
  std::uint64_t turned_away_ = 0;  // since the last log line
  std::int64_t said_ns_ = 0;
};

}  // namespace ringside
