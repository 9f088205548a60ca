// SPDX-License-Identifier: BSD-3-Clause
// Messages between processes. Only these channels use ZeroMQ. A Channel is one socket with Ringside's defaults: closing
// the socket discards unsent messages (unless linger_ms gives them time), a message larger than expected is refused,
// sending never blocks, and on ipc only the owner and root can connect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// "ipc://" and PATH. Throws Error (exit code 3) if PATH is longer than the 107 characters that a socket's name may
/// have.
std::string ipc_endpoint(const std::string& path);

/// ZeroMQ's threads and sockets of one process. The threads run on the cores of the thread that makes the first
/// channel. The context must outlive its channels.
class ChannelContext {
 public:
  ChannelContext();
  ~ChannelContext();
  ChannelContext(const ChannelContext&) = delete;
  ChannelContext& operator=(const ChannelContext&) = delete;

 private:
  friend class Channel;
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// A CURVE key pair: two texts of 40 characters of Z85 each.
struct KeyPair {
  std::string public_key;
  std::string secret_key;
};
KeyPair make_key_pair();

/// The text of a key that is given as 32 bytes, as ZeroMQ passes it to a ZAP handler. Empty for any other number of
/// bytes.
std::string key_text(std::string_view bytes);
/// Whether `text` is a key: 40 characters that encode 32 bytes.
bool is_key_text(const std::string& text);

/// The encryption of a channel on tcp. A server leaves server_key empty.
struct CurveKeys {
  KeyPair own;
  std::string server_key;  // for a client: the server's public key
};

enum class ChannelKind {
  kDealer,      // sends to one router
  kRouter,      // answers many dealers: the first frame of each message is the dealer's name
  kPublisher,   // sends to all subscribers; drops messages that a slow subscriber has no room for
  kSubscriber,  // receives all topics
  kReply        // the socket of a ZAP handler
};

struct ChannelOptions {
  std::size_t max_message_bytes = 1 << 20;  // a larger message ends the connection
  int high_water_mark = 4096;               // the most messages that are held for one peer, in each direction
  int linger_ms = 0;                        // how long closing may wait for sent messages to leave
  std::string name = {};                    // for kDealer: the name for the router; empty: the router chooses one
  std::optional<CurveKeys> curve = {};
  bool curve_server = false;  // with `curve`: whether this process's ZAP handler checks every client
};

/// Only one thread at a time may use it.
class Channel {
 public:
  Channel(ChannelContext& context, ChannelKind kind, const ChannelOptions& options = {});
  ~Channel();
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;

  /// Listens. ipc://PATH: the socket file is created with mode 0600, and other users are refused; the socket of a dead
  /// process is replaced, so the caller must hold a lock that excludes other servers at PATH. ipc://@NAME has no file;
  /// other users are still refused. Throws Error (exit code 3).
  void bind(const std::string& endpoint);
  /// Connects to `endpoint`. If no process listens there, keeps trying in the background. Throws Error (exit code 3).
  void connect(const std::string& endpoint);

  /// Sends one message that consists of these frames. Returns false if there is no room for the message or no peer. A
  /// publisher always accepts a message. A dealer that has called `connect` accepts messages even before a router
  /// listens, up to its high-water mark.
  bool send(std::span<const std::string_view> frames) noexcept;
  bool send(std::string_view frame) noexcept { return send(std::span(&frame, 1)); }

  /// Receives the next message's frames; `frames` keeps its memory from call to call. Returns false if there is no
  /// message. A message is dropped if it has more than 16 frames, which Ringside never sends, or if memory for it is
  /// short.
  bool receive(std::vector<std::string>& frames) noexcept;

  /// Waits up to timeout_ms (-1: without limit) for a message to any of `channels`, or until `fd` (-1: none) is
  /// readable. Returns false if neither happened.
  static bool wait(std::span<Channel* const> channels, int timeout_ms, int fd = -1) noexcept;
  bool wait(int timeout_ms) noexcept {
    Channel* self = this;
    return wait(std::span(&self, 1), timeout_ms);
  }
  /// Waits for a message to this channel only, with a time limit in nanoseconds. May return early without a message.
  void wait_ns(std::int64_t at_most_ns) noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringside
