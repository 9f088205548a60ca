// SPDX-License-Identifier: BSD-3-Clause
// The sockets on which clients follow a run (docs/use/live.md): a PUB and a ROUTER socket beside the analyzer's own
// socket. On request there are two more on tcp, encrypted and behind a gate. The recorder decides what is sent. This
// file decides which clients may connect, and how much is done for them at a time, so that no client slows the run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/recorder/tcp_gate.hpp"
#include "analyzer/recorder/zap_handler.hpp"
#include "common/messages/channel.hpp"
#include "common/options/options.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// Used only by the recorder's thread. ZeroMQ's own thread runs on the cores of that thread.
class Telemetry {
 public:
  /// socket: the analyzer's socket; the caller holds its lock. Throws Error: exit code 2 for unusable options and keys,
  /// 3 if it cannot listen.
  Telemetry(const TelemetryOptions& options, const std::string& socket);
  ~Telemetry();
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  /// Sends to all subscribers without waiting.
  void publish(std::string_view topic, std::string_view message) noexcept;

  /// Returns an encoded ControlReply. is_here: whether the client is on this machine.
  using ReplyTo = std::function<std::string(const wire::ControlRequest& request, bool is_here)>;

  /// Answers the waiting requests, up to a limit of requests and bytes.
  void answer(const ReplyTo& reply_to);

 private:
  struct Pair {
    Channel publisher;
    Channel control;
  };
  void listen_on_tcp(const TelemetryOptions& options);
  void answer(Channel& control, const ReplyTo& reply_to, bool is_here);

  std::optional<TcpGate> gate_;  // must outlive the context, which sends the last records when it ends
  ChannelContext context_;
  std::string socket_;
  std::optional<ZapHandler> zap_;
  std::vector<Pair> pairs_;  // ipc, and tcp
  std::vector<std::string> frames_;
};

}  // namespace ringside
