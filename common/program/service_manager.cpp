// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/service_manager.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "common/text/decimal.hpp"

namespace ringside {
namespace {

// The interval between two statuses: short enough for a user.
constexpr std::int64_t kStatusIntervalNs = 5'000'000'000;
// Four beats per watchdog time: three may be late before the watchdog acts.
constexpr std::int64_t kBeatsPerWatchdog = 4;
// The number of bytes that the slowest usable disk writes in a microsecond (20 MB/s).
constexpr std::uint64_t kSlowBytesPerUs = 20;
// For a message that must arrive: the longest wait for a manager that does not read.
constexpr timeval kPatience{5, 0};

std::string_view variable(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

/// Returns 0 if `text` is not a number, or is too large for a time.
std::uint64_t number(std::string_view text) noexcept {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 52;
  const std::uint64_t number = whole_number(text).value_or(0);
  return number < kMost ? number : 0;
}

/// A message to the manager that contains a number. This class allocates no memory, because the watchdog must receive
/// its messages even when memory is short.
class Assignments {
 public:
  Assignments(std::string_view before, std::uint64_t number, std::string_view behind = "") noexcept {
    char* end = std::copy(before.begin(), before.end(), buffer_.data());
    end = std::to_chars(end, buffer_.data() + buffer_.size(), number).ptr;
    end = std::copy(behind.begin(), behind.end(), end);
    size_ = static_cast<std::size_t>(end - buffer_.data());
  }
  std::string_view view() const noexcept { return {buffer_.data(), size_}; }

 private:
  std::array<char, 96> buffer_;  // room for the longest text and a number of 20 digits
  std::size_t size_ = 0;
};

/// `text` on one line: the manager would read the text after a newline as another assignment. A status contains file
/// names and a producer's description of its matrix.
std::string on_one_line(std::string text) noexcept {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

/// path: the path of a socket; "@..." is an abstract one.
UniqueFd connected(std::string_view path) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return {};
  std::copy(path.begin(), path.end(), address.sun_path);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid() || connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return {};
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  return fd;
}

}  // namespace

ServiceManager::ServiceManager(bool supervised) {
  if (!supervised) return;
  socket_ = connected(variable("NOTIFY_SOCKET"));
  if (!socket_.valid()) return;
  next_beat_ns_ = 0;
  interval_ns_ = kStatusIntervalNs;
  const std::uint64_t watched_pid = number(variable("WATCHDOG_PID"));
  if (watched_pid == 0 || watched_pid == static_cast<std::uint64_t>(getpid())) {
    watchdog_us_ = number(variable("WATCHDOG_USEC"));
  }
  expected_us_ = watchdog_us_;
  if (watchdog_us_ > 0) {
    interval_ns_ = std::min(interval_ns_, static_cast<std::int64_t>(watchdog_us_) * 1000 / kBeatsPerWatchdog);
  }
}

void ServiceManager::ready() noexcept {
  send("READY=1", true);
}

void ServiceManager::stopping() noexcept {
  if (std::exchange(stopping_sent_, true)) return;
  // The last sync may take longer than the manager allows for the stop.
  const Assignments more_time("STOPPING=1\nEXTEND_TIMEOUT_USEC=", expected_us_);
  send(expected_us_ > watchdog_us_ ? more_time.view() : "STOPPING=1", true);
}

void ServiceManager::describe(std::function<std::string()> text) noexcept {
  text_ = std::move(text);
  send("", false);
}

void ServiceManager::describe(const std::string& text) noexcept {
  if (!socket_.valid()) return;
  try {
    describe([text] { return text; });
  } catch (const std::exception&) {  // too little memory for a copy: the status stays as it was
  }
}

void ServiceManager::beat(std::int64_t now_ns) noexcept {
  if (now_ns < next_beat_ns_) return;
  next_beat_ns_ = now_ns + interval_ns_;
  send(watchdog_us_ > 0 ? "WATCHDOG=1" : "", false);
}

void ServiceManager::expect_work_on(std::uint64_t bytes) noexcept {
  if (watchdog_us_ == 0) return;
  const std::uint64_t expected_us = watchdog_us_ + bytes / kSlowBytesPerUs;
  if (std::exchange(expected_us_, expected_us) == expected_us) return;
  send(Assignments("WATCHDOG_USEC=", expected_us, "\nWATCHDOG=1").view(), true);
}

/// Sends the assignments, with the status if there is one. may_wait: whether the message must arrive. Any other message
/// is repeated soon, and therefore dropped if the manager does not read. Other failures, even a lack of memory, are
/// ignored.
void ServiceManager::send(std::string_view assignments, bool may_wait) noexcept {
  if (!socket_.valid()) return;
  std::string with_status;
  std::string_view message = assignments;
  try {
    if (text_) {
      with_status.append(assignments)
          .append(assignments.empty() ? "STATUS=" : "\nSTATUS=")
          .append(on_one_line(text_()));
      message = with_status;
    }
  } catch (const std::exception&) {  // sent without the status
  }
  if (message.empty()) return;
  ssize_t sent;
  do {
    sent = ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL | (may_wait ? 0 : MSG_DONTWAIT));
  } while (sent < 0 && errno == EINTR);
}

}  // namespace ringside
