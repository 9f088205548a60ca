// One HTTP connection with limits that cpp-httplib does not have: so many bytes of request, so many seconds for all of
// it. A client that sends without end, or one byte a second, holds neither memory nor a thread for longer.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <cstddef>

namespace ringside {

struct ConnectionLimits {
  std::size_t request_bytes = 8 << 10;
  std::chrono::milliseconds first_byte_time{1000};  // until the request begins
  std::chrono::milliseconds request_time{5000};     // until the request is complete
  std::chrono::milliseconds response_time{10'000};  // until the answer is taken
};

class BoundedStream : public httplib::Stream {
 public:
  /// Both are the caller's, open as long as this lives. stop: from when it is readable on (an eventfd), nothing is
  /// waited for any more; below 0: never.
  BoundedStream(socket_t socket, const ConnectionLimits& limits, int stop = -1);

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool wait(short events, Clock::time_point until) const;

  socket_t socket_;
  int stop_;
  std::size_t bytes_left_;
  Clock::time_point begins_until_;
  Clock::time_point read_until_;
  std::chrono::milliseconds response_time_;
  Clock::time_point write_until_;  // from the first byte of the answer; the epoch before
  std::array<char, 2048> buffer_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace ringside
