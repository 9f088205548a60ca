// What systemd wants to know of a service: that it is ready, what it does, that its main thread goes on, that it stops
// (docs/services.md). Datagrams to a socket (NOTIFY_SOCKET), as sd_notify(3) describes them, but not through
// libsystemd: its call waits while the manager does not read, and no step is to wait for that. Without a manager
// nothing here does anything.
//
// The watchdog is fed by `beat` alone, which the main thread calls where it makes progress: a thread of its own would
// go on while the main thread hangs. `beat` makes a system call every few seconds at most, by the clock it is given.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "common/platform/pulse.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

/// Used by one thread, the main thread.
class ServiceManager final : public Pulse {
 public:
  /// supervised: false where another program of ours started this one, and it is that one the manager asks.
  explicit ServiceManager(bool supervised = true);

  /// From here on the service does what it is there for.
  void ready() noexcept;
  /// It has been asked to end, and is about to. Said once.
  void stopping() noexcept;

  /// What it is doing: said now, and with each beat asked for again (`systemctl status` shows it). What `text` refers
  /// to outlives the next call of either.
  void describe(std::function<std::string()> text) noexcept;
  void describe(const std::string& text) noexcept;

  void beat(std::int64_t now_ns) noexcept override;

  /// Until the next call there may be work on so many bytes between two beats: the watchdog waits as long as a slow
  /// disk takes for them, beside the time it was given. 0: what it was given.
  void expect_work_on(std::uint64_t bytes) noexcept;

 private:
  void send(std::string_view assignments, bool may_wait) noexcept;

  UniqueFd socket_;                // connected to the manager's; invalid: there is none
  std::uint64_t watchdog_us_ = 0;  // 0: it does not watch
  std::uint64_t expected_us_ = 0;  // what it waits at present
  std::int64_t interval_ns_ = 0;   // between two beats that are passed on
  std::int64_t next_beat_ns_ = std::numeric_limits<std::int64_t>::max();
  bool said_stopping_ = false;
  std::function<std::string()> text_;
};

}  // namespace ringside
