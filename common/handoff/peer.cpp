// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/peer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "common/files/lock_holder.hpp"
#include "common/files/regular_file.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/owner_socket.hpp"

namespace ringside {
namespace {

// How many connections the kernel queues until they are accepted. Connections mostly wait in this queue while a run is
// served.
constexpr int kMostInQueue = 64;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    throw system_error("the socket path '{}' has {} characters, expected at most {}; choose a shorter --socket", path,
                       path.size(), sizeof address.sun_path - 1);
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

UniqueFd new_socket(int flags = 0) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!fd.valid()) throw system_error("cannot create a socket: {}", errno_text(errno));
  return fd;
}

}  // namespace

Peer::Peer(UniqueFd socket) : socket_(std::move(socket)) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0) {
    pid_ = credentials.pid;
    uid_ = credentials.uid;
    // Without a pidfd (an old kernel, another pid namespace) only a hang-up of the socket shows that the peer has
    // ended.
    pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  }
}

namespace {

/// Makes one attempt to connect. If the attempt fails, returns nothing and sets `error` to the errno value.
std::optional<Peer> connect_once(const std::string& path, int& error) {
  const sockaddr_un address = address_of(path);
  // The socket is non-blocking, because a blocking connect would wait without limit if the listener's queue is full.
  UniqueFd fd = new_socket(SOCK_NONBLOCK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    error = errno;
    if (error != ENOENT && error != ECONNREFUSED && error != EAGAIN && error != EINTR) {
      throw system_error("cannot connect to the analyzer at '{}': {}", path, errno_text(error));
    }
    return std::nullopt;
  }
  fcntl(fd.get(), F_SETFL, 0);
  Peer peer(std::move(fd));
  // Only an analyzer of the same user may get the buffers: another user could be the first to listen at that path.
  if (peer.uid() != geteuid()) {
    throw system_error("the analyzer at '{}' belongs to user {}, expected user {}; choose another --socket", path,
                       peer.uid(), geteuid());
  }
  return peer;
}

}  // namespace

std::optional<Peer> Peer::try_connect(const std::string& path) {
  int error = 0;
  return connect_once(path, error);
}

Peer Peer::connect(const std::string& path, double timeout_s, StopFlag stop, const std::string& while_waiting) {
  constexpr std::int64_t kMomentNs = 500'000'000;
  const std::int64_t begun = now_ns();
  const std::int64_t deadline = begun + static_cast<std::int64_t>(timeout_s * 1e9);
  bool told = while_waiting.empty();
  for (;;) {
    int error = 0;
    if (std::optional<Peer> peer = connect_once(path, error)) return std::move(*peer);
    if (stop.is_set()) {
      throw Error(ExitCode::kInterrupted, "interrupted while waiting for an analyzer");
    }
    if (now_ns() >= deadline) {
      throw peer_error(
          "no analyzer listens at '{}' ({}) after {} s; start the solver with `ringside run` or with RINGSIDE_POOL, or "
          "start ringside-analyzer with the same --socket",
          path, errno_text(error), timeout_s);
    }
    if (!told && now_ns() - begun > kMomentNs) {
      told = true;
      (void)!write(STDERR_FILENO, while_waiting.data(), while_waiting.size());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

bool Peer::send(std::span<const std::byte> message, std::span<const int> fds) noexcept {
  iovec part{const_cast<std::byte*>(message.data()), message.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(PassedFds::kMost * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    const std::size_t fds_bytes = std::min(fds.size(), PassedFds::kMost) * sizeof(int);
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(fds_bytes);
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds_bytes);
    std::memcpy(CMSG_DATA(rights), fds.data(), fds_bytes);
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket_.get(), &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(message.size());
}

std::optional<Peer::Received> Peer::receive(std::span<std::byte> buffer, int timeout_ms) noexcept {
  pollfd waiting{socket_.get(), POLLIN, 0};
  const int ready = poll(&waiting, 1, timeout_ms);
  if (ready <= 0) return std::nullopt;  // the time is over, or a signal came: the caller checks its stop flag

  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(PassedFds::kMost * sizeof(int))];
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t length;
  bool again;
  bool was_reset = false;
  do {
    length = recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC);
    // If a peer leaves without reading our last message, the connection is reset. The kernel reports this once; the
    // messages that the peer sent before it left (its farewell) can be read after that.
    const bool reset = length < 0 && errno == ECONNRESET && !was_reset;
    again = (length < 0 && errno == EINTR) || reset;
    was_reset = was_reset || reset;
  } while (again);

  Received received;
  received.hung_up = length <= 0;
  if (received.hung_up) return received;
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(item) + i * sizeof(int), sizeof fd);
      received.fds.add(UniqueFd(fd));
    }
  }
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0) received.bytes = static_cast<std::size_t>(length);
  return received;
}

bool Peer::alive() const noexcept {
  pollfd watched[2] = {{socket_.get(), POLLRDHUP, 0}, {pidfd_.get(), POLLIN, 0}};
  const nfds_t count = pidfd_.valid() ? 2 : 1;
  if (poll(watched, count, 0) <= 0) return true;
  const bool hung_up = (watched[0].revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
  const bool exited = count == 2 && (watched[1].revents & POLLIN) != 0;
  return !hung_up && !exited;
}

namespace {

/// Removes the sockets that a killed analyzer left beside its own, because its successor may not use all of them.
/// Requires the analyzer's lock. Files that are not sockets stay.
void remove_sockets_beside(const std::string& path) {
  for (const std::string_view suffix : Listener::kSocketSuffixes) {
    const std::string beside = path + std::string(suffix);
    struct stat found {};
    if (lstat(beside.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) unlink(beside.c_str());
  }
}

}  // namespace

Listener::Listener(const std::string& path) : path_(path) {
  const sockaddr_un address = address_of(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw system_error("cannot create the folder '{}' for the socket: {}", folder.string(), errno_text(errno));
  }
  // Take the lock first: otherwise a second listener would replace the socket of a listener that still runs.
  const std::string lock_path = path + std::string(kLockSuffix);
  RegularFile lock = open_regular(lock_path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!lock.valid()) throw system_error("cannot open the lock file '{}': {}", lock_path, lock.why());
  lock_ = std::move(lock.fd);
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    struct stat locked {};
    const auto holder = fstat(lock_.get(), &locked) == 0 ? flock_holder(locked) : std::nullopt;
    throw system_error("another analyzer serves '{}': {}; stop it, or choose another --socket", path,
                       describe_holder(holder));
  }
  // The socket of a dead listener is removed, but never a user's file.
  struct stat found {};
  if (lstat(path.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode)) {
    throw system_error("cannot listen at '{}': the file there is not a socket; choose another --socket", path);
  }
  unlink(path.c_str());
  remove_sockets_beside(path);
  socket_ = new_socket(SOCK_NONBLOCK);
  // The socket has no rights for others from the first moment on, so that no other user can connect.
  if (const int error = bind_for_owner(socket_.get(), address); error != 0) {
    throw system_error("cannot listen at '{}': {}", path, errno_text(error));
  }
  if (listen(socket_.get(), kMostInQueue) != 0)
    throw system_error("cannot listen at '{}': {}", path, errno_text(errno));
}

// The lock file stays. If it were removed, a third process could lock a new file of that name while a second process
// holds the lock on the old file.
Listener::~Listener() {
  unlink(path_.c_str());
  remove_sockets_beside(path_);
}

std::optional<Peer> Listener::accept(int timeout_ms) {
  pollfd waiting{socket_.get(), POLLIN, 0};
  if (poll(&waiting, 1, timeout_ms) <= 0) return std::nullopt;
  Accepted accepted = accept_socket();
  if (!accepted.socket.valid()) return std::nullopt;
  return Peer(std::move(accepted.socket));
}

Listener::Accepted Listener::accept_socket() noexcept {
  Accepted accepted;
  // If no descriptor is free, accept fails in the same way whether a connection waits or not.
  pollfd waiting{socket_.get(), POLLIN, 0};
  accepted.none = poll(&waiting, 1, 0) <= 0;
  if (accepted.none) return accepted;
  // The listening socket is non-blocking, so that accept does not block if the connection was withdrawn meanwhile; the
  // accepted socket is blocking.
  accepted.socket.reset(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!accepted.socket.valid()) {
    accepted.no_descriptors = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    accepted.none = !accepted.no_descriptors;
    return accepted;
  }
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(accepted.socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0 ||
      credentials.uid != geteuid()) {
    accepted.socket.reset();
    accepted.stranger = true;
  }
  return accepted;
}

}  // namespace ringside
