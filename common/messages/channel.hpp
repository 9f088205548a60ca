// SPDX-License-Identifier: BSD-3-Clause
// Messages between processes: the only user of ZeroMQ. A Channel is one socket with Ringside's defaults: it lingers
// only if an option requires it, accepts no message larger than expected, never blocks in send, and on ipc accepts only
// the owner and root.
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

/// ipc://PATH. Throws Error (exit code 3) if PATH is longer than the 107 characters a socket's name may have.
std::string ipc_endpoint(const std::string& path);

/// ZeroMQ's threads and sockets of one process. The threads run on the cores of the thread that makes the first
/// channel. It outlives its channels.
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

/// A CURVE key pair, each half 40 characters of Z85.
struct KeyPair {
  std::string public_key;
  std::string secret_key;
};
KeyPair make_key_pair();

/// The text of a 32-byte key, as ZeroMQ passes it to a ZAP handler; empty for anything else.
std::string key_text(std::string_view bytes);
/// Whether `text` is a key: 40 characters that encode 32 bytes.
bool is_key_text(const std::string& text);

/// The encryption of a channel on tcp. A server leaves server_key empty.
struct CurveKeys {
  KeyPair own;
  std::string server_key;  // the server's public key, for a client
};

enum class ChannelKind {
  kDealer,      // sends to one router
  kRouter,      // answers many dealers: the first frame of each message names the dealer
  kPublisher,   // to all subscribers; drops messages that a slow subscriber has no room for
  kSubscriber,  // to all topics
  kReply        // of a ZAP handler
};

struct ChannelOptions {
  std::size_t max_message_bytes = 1 << 20;  // a larger one ends its connection
  int high_water_mark = 4096;               // messages held for one peer, in each direction
  int linger_ms = 0;                        // how long closing may wait until sent messages have left
  std::string name = {};                    // kDealer: the name for the router; empty: the router draws one
  std::optional<CurveKeys> curve = {};
  bool curve_server = false;  // with `curve`: this process's ZAP handler checks every client
};

/// For use by one thread at a time.
class Channel {
 public:
  Channel(ChannelContext& context, ChannelKind kind, const ChannelOptions& options = {});
  ~Channel();
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;

  /// Listens. ipc://PATH: the socket file is created 0600, and other users are refused; a socket that a dead process
  /// left is replaced, so the caller must hold the lock that excludes other servers there. ipc://@NAME has no file;
  /// other users are still refused. Throws Error (exit code 3).
  void bind(const std::string& endpoint);
  /// If no process listens, keeps trying in the background. Throws Error (exit code 3).
  void connect(const std::string& endpoint);

  /// Sends one message of these frames. False if there is no room for it, or no peer to send it to. A publisher always
  /// accepts it. A dealer that has connected accepts as many as it may hold until a router listens there.
  bool send(std::span<const std::string_view> frames) noexcept;
  bool send(std::string_view frame) noexcept { return send(std::span(&frame, 1)); }

  /// Receives the next message's frames; `frames` keeps its memory from call to call. False: there is no message. A
  /// message of more than 16 frames (Ringside sends none) is dropped, and so is a message for which memory is short.
  bool receive(std::vector<std::string>& frames) noexcept;

  /// Waits up to timeout_ms (-1: without limit) for a message to any of `channels`, or until `fd` (-1: none) is
  /// readable. False: neither happened.
  static bool wait(std::span<Channel* const> channels, int timeout_ms, int fd = -1) noexcept;
  bool wait(int timeout_ms) noexcept {
    Channel* self = this;
    return wait(std::span(&self, 1), timeout_ms);
  }
  /// The same for this channel only, where milliseconds are too coarse. May return early without a message.
  void wait_ns(std::int64_t at_most_ns) noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringside
