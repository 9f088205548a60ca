// SPDX-License-Identifier: BSD-3-Clause
// Access over tcp: when a client connects, ZeroMQ sends its public key to the handler (RFC 27, ZAP). The answer is from
// a list, such as the one in the keys' folder. It fails closed: if the list cannot be read, it admits no client.
// It reads the list for each question, so clients are added or removed without a restart.
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
  /// Returns the public keys of admitted clients. It may throw.
  using Allowed = std::function<std::vector<std::string>()>;

  /// allowed: called once now; its Error passes through. list: its name in the log. Make this before any channel of the
  /// same context listens on tcp.
  ZapHandler(ChannelContext& context, Allowed allowed, std::string list);

  /// Answers the waiting questions, up to a limit per call.
  void answer() noexcept;
  /// The channel on which they arrive, to wait for.
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
