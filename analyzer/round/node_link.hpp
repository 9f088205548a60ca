// SPDX-License-Identifier: BSD-3-Clause
// This analyzer's door for the other nodes' analyzers: a tcp socket behind the gate that telemetry has, encrypted, which
// lets in the node before this one only. It lives as long as the analyzer, because the address is told when ranks attach.
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
  /// address: HOST, or HOST:PORT, where the others reach this machine (--node-address); it listens on every address of IPv4.
  /// socket: the analyzer's, beside which the address and the keys are written, and from which a successor takes them, if
  /// they can still be used. Throws Error (exit code 2: the address; 3: it cannot listen).
  NodeLink(const std::string& address, const std::string& socket);
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  /// From now on lets in the holder of this key.
  void admit(const std::string& public_key);

  // What the thread of a round uses; one round at a time.
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
  std::optional<TcpGate> gate_;  // outlives the context
  ChannelContext context_;
  std::optional<ZapHandler> zap_;
  std::optional<Channel> arrivals_;
};

}  // namespace ringside
