// What systemd wants to know of a service: that it is ready, what it does, that its main thread goes on, that it stops
// (sd_notify; docs/services.md). The only user of libsystemd. Without a manager that listens (NOTIFY_SOCKET) nothing
// here does anything.
//
// The watchdog is fed by `beat` alone, which the main thread calls where it makes progress: a thread of its own would
// go on while the main thread hangs. `beat` makes a system call every few seconds at most, by the clock it is given.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "common/pulse.hpp"

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
  static constexpr std::int64_t kNoManager = std::numeric_limits<std::int64_t>::max();
  void send(std::string message) noexcept;

  std::uint64_t watchdog_us_ = 0;  // 0: it does not watch
  std::uint64_t expected_us_ = 0;  // what it waits at present
  std::int64_t interval_ns_ = 0;   // between two beats that are passed on
  std::int64_t next_beat_ns_ = kNoManager;
  bool said_stopping_ = false;
  std::function<std::string()> text_;
};

}  // namespace ringside
