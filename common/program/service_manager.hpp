// SPDX-License-Identifier: BSD-3-Clause
// A service's reports to systemd: that the service is ready, what it does, that its main thread makes progress, and
// that it stops (docs/use/operations.md). The reports are datagrams to a socket (NOTIFY_SOCKET), as sd_notify(3)
// describes. libsystemd is not used, because its function waits while the manager does not read, which would delay a
// step. Without a manager, no function here does anything.
//
// Only `beat` and `expect_work_on` feed the watchdog. The main thread calls these two functions where it makes
// progress; a separate thread would continue to call them while the main thread hangs. `beat` makes one system call
// every 5 s, or every quarter of the watchdog's time if that is shorter. To determine this, `beat` compares the times
// that callers pass to it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "common/platform/pulse.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

/// Only the main thread may use it.
class ServiceManager final : public Pulse {
 public:
  /// supervised: false if another Ringside program started this one; the manager then supervises that program.
  explicit ServiceManager(bool supervised = true);

  /// Reports that the service is ready.
  void ready() noexcept;
  /// Reports that the service was asked to end and will do so. Only the first call sends anything.
  void stopping() noexcept;

  /// Sets the status that `systemctl status` shows: the result of `text` is sent now, and again with each beat that is
  /// passed on. Everything that `text` refers to must exist until the next call of either overload.
  void describe(std::function<std::string()> text) noexcept;
  void describe(const std::string& text) noexcept;

  void beat(std::int64_t now_ns) noexcept override;

  /// Until the next call, the work between two beats may process up to `bytes` bytes. The watchdog then waits for its
  /// configured time plus the time that a slow disk needs for these bytes. 0: the watchdog waits for its configured
  /// time only.
  void expect_work_on(std::uint64_t bytes) noexcept;

 private:
  void send(std::string_view assignments, bool may_wait) noexcept;

  UniqueFd socket_;                // connected to the manager's socket; invalid if there is no manager
  std::uint64_t watchdog_us_ = 0;  // 0: there is no watchdog
  std::uint64_t expected_us_ = 0;  // how long the watchdog waits at present
  std::int64_t interval_ns_ = 0;   // the time between two beats that are passed on
  std::int64_t next_beat_ns_ = std::numeric_limits<std::int64_t>::max();
  bool stopping_sent_ = false;
  std::function<std::string()> text_;
};

}  // namespace ringside
