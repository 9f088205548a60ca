// SPDX-License-Identifier: BSD-3-Clause
#include "common/messages/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <exception>

#include <zmq.hpp>

#include "common/platform/error.hpp"
#include "common/platform/limits.hpp"
#include "common/platform/owner_socket.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {
namespace {

constexpr std::string_view kIpc = "ipc://";
constexpr std::string_view kAbstractIpc = "ipc://@";
constexpr std::size_t kMostChannelsWaitedFor = 8;
constexpr std::size_t kMostFrames = 16;
// The descriptors for ZeroMQ's threads, their mailboxes and a channel. If these cannot be opened, ZeroMQ aborts the
// process.
constexpr std::size_t kDescriptorsToStart = 12;
constexpr std::size_t kThreadsToStart = 2;  // ZeroMQ also aborts if it cannot start these threads
constexpr int kZapEnforceDomain = 93;  // zmq.h defines it only with drafts; every library since 4.3 has it

zmq::socket_type type_of(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::kDealer: return zmq::socket_type::dealer;
    case ChannelKind::kRouter: return zmq::socket_type::router;
    case ChannelKind::kPublisher: return zmq::socket_type::pub;
    case ChannelKind::kSubscriber: return zmq::socket_type::sub;
    case ChannelKind::kReply: break;
  }
  return zmq::socket_type::rep;
}

[[noreturn]] void fail(const char* what, const std::string& endpoint, const zmq::error_t& error) {
  throw system_error("cannot {} '{}': {}", what, endpoint, error.what());
}

/// Throws if a file other than a socket has this name: the socket of a dead process may be deleted, a user's file may
/// not.
void refuse_to_replace_file(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode)) {
    throw system_error("cannot listen at '{}': the file there is not a socket; choose another --socket", path);
  }
}

/// Makes a socket that listens at the path and admits only its owner. A socket made by ZeroMQ would admit all users
/// that the umask admits.
UniqueFd listen_at(const std::string& path) {
  constexpr int kMostInQueue = 100;  // the value that ZeroMQ uses
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) throw system_error("cannot listen at '{}{}': too long", kIpc, path);
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  unlink(path.c_str());
  int error = fd.valid() ? bind_for_owner(fd.get(), address) : errno;
  if (error == 0 && listen(fd.get(), kMostInQueue) != 0) error = errno;
  if (error != 0) throw system_error("cannot listen at '{}{}': {}", kIpc, path, errno_text(error));
  return fd;
}

/// Stores frame `number`, counted from 1. Returns false if memory is short.
bool keep_frame(std::vector<std::string>& frames, std::size_t number, std::string_view frame) noexcept {
  try {
    if (number > frames.size()) frames.emplace_back();
    frames[number - 1].assign(frame);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Closes connections to peers that disappeared without closing them. ipc does not need this, because the kernel
/// reports that a peer has disappeared; there, heartbeats would only disconnect peers that a signal has stopped.
void notice_vanished_peers(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::heartbeat_ivl, 2000);
  socket.set(zmq::sockopt::heartbeat_timeout, 10000);
}

}  // namespace

std::string ipc_endpoint(const std::string& path) {
  constexpr std::size_t kMostCharacters = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() > kMostCharacters) {
    throw system_error("the socket path '{}' has {} characters, expected at most {}; choose a shorter --socket", path,
                       path.size(), kMostCharacters);
  }
  return std::string(kIpc) + path;
}

struct ChannelContext::Implementation {
  zmq::context_t context{1};
  std::atomic<bool> has_threads{false};  // whether the context's first socket has started its threads
};

ChannelContext::ChannelContext() try : implementation_(std::make_unique<Implementation>()) {
} catch (const zmq::error_t& error) {
  throw system_error("cannot start ZeroMQ: {}", error.what());
}
ChannelContext::~ChannelContext() = default;

KeyPair make_key_pair() {
  constexpr std::size_t kZ85Bytes = 40;
  std::array<char, kZ85Bytes + 1> public_key;
  std::array<char, kZ85Bytes + 1> secret_key;
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0) {
    throw system_error("cannot make a CURVE key pair: {}", zmq_strerror(zmq_errno()));
  }
  return {public_key.data(), secret_key.data()};
}

std::string key_text(std::string_view bytes) {
  constexpr std::size_t kKeyBytes = 32;
  std::array<char, 41> text{};
  if (bytes.size() != kKeyBytes) return {};
  zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(bytes.data()), kKeyBytes);
  return text.data();
}

bool is_key_text(const std::string& text) {
  std::array<std::uint8_t, 32> bytes{};
  return text.size() == 40 && zmq_z85_decode(bytes.data(), text.c_str()) != nullptr;
}

struct Channel::Implementation {
  Implementation() = default;
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() {
    for (const std::string& path : paths) unlink(path.c_str());
  }

  zmq::socket_t socket;
  zmq::message_t incoming;
  int event_fd = -1;    // ZeroMQ's descriptor, which becomes readable after a possible event
  bool is_far = false;  // whether the channel is encrypted; its peers are then on other machines, even without tcp
  std::vector<std::string> paths;  // the paths of the sockets at which the channel listens
};

Channel::Channel(ChannelContext& context, ChannelKind kind, const ChannelOptions& options) try
    : implementation_(std::make_unique<Implementation>()) {
  require_free_descriptors(kDescriptorsToStart, "ZeroMQ");
  if (!context.implementation_->has_threads) require_threads(kThreadsToStart, "ZeroMQ");
  zmq::socket_t& socket = implementation_->socket;
  socket = zmq::socket_t(context.implementation_->context, type_of(kind));
  context.implementation_->has_threads = true;
  socket.set(zmq::sockopt::linger, options.linger_ms);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(options.max_message_bytes));
  socket.set(zmq::sockopt::sndhwm, options.high_water_mark);
  socket.set(zmq::sockopt::rcvhwm, options.high_water_mark);
  // Also closes connections whose peer sends nothing at first.
  socket.set(zmq::sockopt::handshake_ivl, 5000);
  // Reconnects soon to a peer that restarts.
  socket.set(zmq::sockopt::reconnect_ivl, 20);
  socket.set(zmq::sockopt::reconnect_ivl_max, 500);
  if (!options.name.empty()) socket.set(zmq::sockopt::routing_id, options.name);
  if (kind == ChannelKind::kSubscriber) socket.set(zmq::sockopt::subscribe, "");
  // Makes sending to an unreachable peer an error.
  if (kind == ChannelKind::kRouter) socket.set(zmq::sockopt::router_mandatory, true);
  implementation_->event_fd = socket.get(zmq::sockopt::fd);
  implementation_->is_far = options.curve.has_value();
  if (!options.curve) return;
  socket.set(zmq::sockopt::curve_publickey, options.curve->own.public_key);
  socket.set(zmq::sockopt::curve_secretkey, options.curve->own.secret_key);
  if (options.curve_server) {
    socket.set(zmq::sockopt::curve_server, true);
    // Require a ZAP handler: if no domain is set and enforced, ZeroMQ accepts every key when no handler listens.
    socket.set(zmq::sockopt::zap_domain, "ringside");
    const int enforce = 1;
    if (zmq_setsockopt(socket.handle(), kZapEnforceDomain, &enforce, sizeof enforce) != 0) throw zmq::error_t();
  } else {
    socket.set(zmq::sockopt::curve_serverkey, options.curve->server_key);
  }
} catch (const zmq::error_t& error) {
  throw system_error("cannot create a ZeroMQ socket: {}", error.what());
}

Channel::~Channel() = default;
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;

void Channel::bind(const std::string& endpoint) {
  zmq::socket_t& socket = implementation_->socket;
  try {
    const bool is_ipc = endpoint.starts_with(kIpc);
    if (!is_ipc || implementation_->is_far) notice_vanished_peers(socket);
    if (!is_ipc) return socket.bind(endpoint);
    const std::string path = endpoint.starts_with(kAbstractIpc) ? std::string() : endpoint.substr(kIpc.size());
    if (!path.empty()) refuse_to_replace_file(path);
    // Root can read everything anyway. If root is admitted, an administrator can follow a service without becoming its
    // user.
    for (const uid_t is_admitted : {geteuid(), uid_t{0}}) {
      if (zmq_setsockopt(socket.handle(), ZMQ_IPC_FILTER_UID, &is_admitted, sizeof is_admitted) != 0)
        throw zmq::error_t();
    }
    if (path.empty()) return socket.bind(endpoint);
    UniqueFd listening = listen_at(path);
    implementation_->paths.push_back(path);
    socket.set(zmq::sockopt::use_fd, listening.get());
    socket.bind(endpoint);  // ZeroMQ makes its own copy of the address and the descriptor
    [[maybe_unused]] const int given = listening.release();
    socket.set(zmq::sockopt::use_fd, -1);
  } catch (const zmq::error_t& error) {
    fail("listen at", endpoint, error);
  }
}

void Channel::connect(const std::string& endpoint) {
  try {
    if (!endpoint.starts_with(kIpc)) notice_vanished_peers(implementation_->socket);
    implementation_->socket.connect(endpoint);
  } catch (const zmq::error_t& error) {
    fail("connect to", endpoint, error);
  }
}

bool Channel::send(std::span<const std::string_view> frames) noexcept {
  void* socket = implementation_->socket.handle();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int more = i + 1 < frames.size() ? ZMQ_SNDMORE : 0;
    int sent;
    do {
      sent = zmq_send(socket, frames[i].data(), frames[i].size(), ZMQ_DONTWAIT | more);
    } while (sent < 0 && zmq_errno() == EINTR);  // repeated if a signal interrupted ZeroMQ's own work
    // Once ZeroMQ has accepted the first frame, it also accepts the others.
    if (sent < 0) return false;
  }
  return true;
}

bool Channel::receive(std::vector<std::string>& frames) noexcept {
  bool kept;  // false if memory for one of the message's frames was short
  zmq_msg_t* message = implementation_->incoming.handle();
  void* socket = implementation_->socket.handle();
  std::size_t count;
  do {
    count = 0;
    kept = true;
    do {
      int received;
      do {
        received = zmq_msg_recv(message, socket, ZMQ_DONTWAIT);
      } while (received < 0 && zmq_errno() == EINTR);
      if (received < 0) return false;
      if (++count > kMostFrames || !kept) continue;
      kept = keep_frame(frames, count, {static_cast<const char*>(zmq_msg_data(message)), zmq_msg_size(message)});
    } while (zmq_msg_more(message) != 0);
  } while (count > kMostFrames || !kept);
  frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(count), frames.end());
  return true;
}

void Channel::wait_ns(std::int64_t at_most_ns) noexcept {
  // ZeroMQ signals only changes, not messages that arrived earlier and are still unread: check for these first.
  int events = 0;
  std::size_t size = sizeof events;
  zmq_getsockopt(implementation_->socket.handle(), ZMQ_EVENTS, &events, &size);
  if ((events & ZMQ_POLLIN) != 0) return;
  pollfd waiting{implementation_->event_fd, POLLIN, 0};
  const timespec time{at_most_ns / 1'000'000'000, at_most_ns % 1'000'000'000};
  ppoll(&waiting, 1, &time, nullptr);
}

bool Channel::wait(std::span<Channel* const> channels, int timeout_ms, int fd) noexcept {
  std::array<zmq_pollitem_t, kMostChannelsWaitedFor + 1> items = {};
  std::size_t count = 0;
  for (Channel* const channel : channels.first(std::min(channels.size(), kMostChannelsWaitedFor))) {
    items[count++] = {channel->implementation_->socket.handle(), 0, ZMQ_POLLIN, 0};
  }
  if (fd >= 0) items[count++] = {nullptr, fd, ZMQ_POLLIN, 0};
  return zmq_poll(items.data(), static_cast<int>(count), timeout_ms) > 0;
}

}  // namespace ringside
