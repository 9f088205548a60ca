// SPDX-License-Identifier: BSD-3-Clause
// The socket on which other nodes reach this analyzer: an encrypted tcp socket behind a gate like that of telemetry.
// The link admits only the previous node. It exists as long as the analyzer, because ranks receive the address when
// they attach.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/recorder/tcp_gate.hpp"
#include "analyzer/recorder/zap_handler.hpp"
#include "common/messages/channel.hpp"

namespace ringside {

class NodeLink {
 public:
  /// address: HOST, or HOST:PORT, at which other nodes reach this machine (--node-address); the link listens on every
  /// IPv4 address. socket: the analyzer's socket. Address and keys are written beside it, and a successor takes them
  /// from there if they are still usable. Throws Error: exit code 2 for a wrong address, 3 if it cannot listen.
  NodeLink(const std::string& address, const std::string& socket);
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  /// Admits the holder of this key from now on.
  void admit(const std::string& public_key);

  // These functions are for the thread of a round; only one round at a time may use them.
  ChannelContext& context() noexcept { return context_; }
  Channel& arrivals() noexcept { return *arrivals_; }
  const KeyPair& keys() const noexcept { return keys_; }
  /// Answers waiting questions about keys.
  void answer() noexcept { zap_->answer(); }
  Channel& questions() noexcept { return zap_->questions(); }

 private:
  void listen(const KeyPair& keys, const std::string& port);
  std::vector<std::string> admitted();

  KeyPair keys_;
  std::mutex admitted_mutex_;
  std::vector<std::string> admitted_;
  std::optional<TcpGate> gate_;  // must outlive the context
  ChannelContext context_;
  std::optional<ZapHandler> zap_;
  std::optional<Channel> arrivals_;
};

}  // namespace ringside
