// SPDX-License-Identifier: BSD-3-Clause
// Access over tcp: when a client connects, ZeroMQ sends its public key to the handler (RFC 27, ZAP). The handler looks
// the key up in a list, such as the one in the keys' folder. If the list cannot be read, the handler admits no client.
// It reads the list again for each question, so clients can be added or removed without a restart.
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

  /// allowed: is called once now; an Error that it throws passes through. list: the name of the list in log lines. Make
  /// this object before any channel of the same context listens on tcp.
  ZapHandler(ChannelContext& context, Allowed allowed, std::string list);

  /// Answers the waiting questions, up to a limit per call.
  void answer() noexcept;
  /// The channel on which questions arrive, for a caller that waits for several channels.
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
