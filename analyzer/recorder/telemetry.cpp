// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/telemetry.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"
#include "common/platform/limits.hpp"
#include "common/telemetry/key_folder.hpp"
#include "common/telemetry/record_stream.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMaxRequestBytes = 4096;
constexpr std::size_t kMaxRequestBytesHere = std::size_t{64} << 10;  // on ipc, for the results of analyses
constexpr int kMostRequests = 32;                  // per turn and socket
constexpr std::size_t kMostReplyBytes = 1u << 20;  // per turn and socket; the last reply may exceed it
constexpr int kPublishedAhead = 512;               // messages held for a slow subscriber: those of about five seconds
constexpr int kFarewellMs = 100;                   // to send a run's last record
constexpr int kRepliesAhead = 8;                   // most replies (and requests) held for a client that does not read

ChannelOptions publishing(const std::optional<CurveKeys>& keys) {
  return {.max_message_bytes = kMaxRequestBytes,
          .high_water_mark = kPublishedAhead,
          .linger_ms = kFarewellMs,
          .name = {},
          .curve = keys,
          .curve_server = keys.has_value()};
}

ChannelOptions answering(const std::optional<CurveKeys>& keys) {
  ChannelOptions options = publishing(keys);
  if (!keys) options.max_message_bytes = kMaxRequestBytesHere;
  options.high_water_mark = kRepliesAhead;
  return options;
}

// The limits of connections, for both tcp sockets together. A connection takes descriptors before its key is checked.
constexpr std::size_t kFewestConnections = 8;
constexpr std::size_t kMostConnections = 64;
// The number of descriptors that connections never get. They are kept for the pool, the journal and its rotation, a
// producer that attaches, peers that wait to attach, and followers on this machine.
constexpr std::size_t kReservedDescriptors = 160;

/// The most connections that leave enough descriptors for the rest of the analyzer.
std::size_t connections_on_tcp() {
  constexpr std::size_t kEach = TcpGate::kDescriptorsEach;
  const std::size_t limit =
      ensure_descriptors(kReservedDescriptors + kFewestConnections * kEach, "ringside-analyzer with --telemetry-tcp");
  return std::min((limit - kReservedDescriptors) / kEach, kMostConnections);
}

/// endpoint: tcp://HOST:PORT.
TcpGate::Door door_at(const std::string& endpoint, const std::string& inner) {
  const std::string address = endpoint.substr(std::string_view("tcp://").size());
  const std::size_t colon = address.rfind(':');
  return {.option = "--telemetry-tcp", .host = address.substr(0, colon), .port = address.substr(colon + 1), .inner = inner};
}

std::string path_of(const std::string& endpoint) {
  return endpoint.substr(std::string_view("ipc://").size());
}

}  // namespace

Telemetry::Telemetry(const TelemetryOptions& options, const std::string& socket) : socket_(socket) {
  const TelemetryAddress address = telemetry_at(socket);
  Pair& pair = pairs_.emplace_back(
      Pair{{context_, ChannelKind::kPublisher, publishing({})}, {context_, ChannelKind::kRouter, answering({})}});
  pair.publisher.bind(address.publisher);
  pair.control.bind(address.control);
  if (!options.tcp.empty()) listen_on_tcp(options);
}

void Telemetry::listen_on_tcp(const TelemetryOptions& options) {
  if (options.keys.empty()) {
    throw usage_error(
        "--telemetry-tcp: found without --telemetry-keys, expected the folder of the keys: `ringside keygen FOLDER` "
        "makes one");
  }
  const CurveKeys keys = read_server_keys(options.keys);
  const TelemetryAddress address = telemetry_at_tcp(options.tcp, "--telemetry-tcp", keys);
  const std::size_t most = connections_on_tcp();
  // The handler is made before any client can connect.
  zap_.emplace(context_, [folder = options.keys] { return read_allowed_clients(folder); }, options.keys);
  Pair& pair = pairs_.emplace_back(
      Pair{{context_, ChannelKind::kPublisher, publishing(keys)}, {context_, ChannelKind::kRouter, answering(keys)}});
  const std::string name = "ringside-" + to_string(random_id());
  pair.publisher.bind("ipc://@" + name + ".telemetry");
  pair.control.bind("ipc://@" + name + ".control");
  gate_.emplace(
      std::vector{door_at(address.publisher, name + ".telemetry"), door_at(address.control, name + ".control")}, most);
}

Telemetry::~Telemetry() {
  pairs_.clear();
  const TelemetryAddress address = telemetry_at(socket_);
  unlink(path_of(address.publisher).c_str());
  unlink(path_of(address.control).c_str());
}

void Telemetry::publish(std::string_view topic, std::string_view message) noexcept {
  const std::array<std::string_view, 2> frames = {topic, message};
  for (Pair& pair : pairs_) pair.publisher.send(frames);
}

void Telemetry::answer(const ReplyTo& reply_to) {
  if (zap_) zap_->answer();
  for (Pair& pair : pairs_) answer(pair.control, reply_to, &pair == &pairs_.front());
}

void Telemetry::answer(Channel& control, const ReplyTo& reply_to, bool is_here) {
  std::size_t replied_bytes = 0;
  wire::ControlRequest request;
  for (int i = 0; i < kMostRequests && replied_bytes < kMostReplyBytes && control.receive(frames_); ++i) {
    // Frames: the client's identity, the empty frame that a REQ socket adds, the request.
    const bool asks = frames_.size() == 2 || (frames_.size() == 3 && frames_[1].empty());
    if (!asks || !request.ParseFromString(frames_.back())) continue;
    const std::string reply = reply_to(request, is_here);
    replied_bytes += reply.size();
    std::array<std::string_view, 3> answer = {frames_.front(), frames_[1], reply};
    if (frames_.size() == 2) answer[1] = reply;
    control.send(std::span(answer).first(frames_.size()));
  }
}

}  // namespace ringside
