#include "cli/bounded_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ringside {

BoundedStream::BoundedStream(socket_t socket, const ConnectionLimits& limits, int stop)
    : socket_(socket),
      stop_(stop),
      bytes_left_(limits.request_bytes),
      begins_until_(Clock::now() + std::min(limits.first_byte_time, limits.request_time)),
      read_until_(Clock::now() + limits.request_time),
      response_time_(limits.response_time) {}

bool BoundedStream::wait(short events, Clock::time_point until) const {
  std::array<pollfd, 2> entries = {{{socket_, events, 0}, {stop_, POLLIN, 0}}};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    const int ready = poll(entries.data(), entries.size(), static_cast<int>(left));
    if (ready >= 0 || errno != EINTR) return ready > 0 && entries[1].revents == 0;
  }
}

bool BoundedStream::is_readable() const {
  return begin_ < end_ || wait(POLLIN, end_ == 0 ? begins_until_ : read_until_);
}

bool BoundedStream::is_writable() const {
  return wait(POLLOUT, write_until_ == Clock::time_point() ? Clock::now() + response_time_ : write_until_);
}

ssize_t BoundedStream::read(char* to, std::size_t size) {
  if (begin_ == end_) {
    const std::size_t room = std::min(buffer_.size(), bytes_left_);
    if (room == 0 || !wait(POLLIN, end_ == 0 ? begins_until_ : read_until_)) return -1;
    const ssize_t got = recv(socket_, buffer_.data(), room, MSG_DONTWAIT);
    if (got <= 0) return got;
    begin_ = 0;
    end_ = static_cast<std::size_t>(got);
    bytes_left_ -= end_;
  }
  const std::size_t taken = std::min(size, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, taken);
  begin_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t BoundedStream::write(const char* from, std::size_t size) {
  if (write_until_ == Clock::time_point()) write_until_ = Clock::now() + response_time_;
  if (!wait(POLLOUT, write_until_)) return -1;
  return send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Nothing here asks who it is: the token decides.
void BoundedStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void BoundedStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace ringside
