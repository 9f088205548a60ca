#include "common/service_manager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <systemd/sd-daemon.h>

namespace ringside {
namespace {

// Often enough for whoever looks at the status.
constexpr std::int64_t kStatusIntervalNs = 5'000'000'000;
// A quarter: three beats may be late before the watchdog barks.
constexpr std::int64_t kBeatsPerWatchdog = 4;
// What a disk that is still worth having writes in a microsecond (20 MB/s).
constexpr std::uint64_t kSlowBytesPerUs = 20;

}  // namespace

ServiceManager::ServiceManager(bool supervised) {
  const char* socket = std::getenv("NOTIFY_SOCKET");
  if (!supervised || socket == nullptr || *socket == '\0') return;
  interval_ns_ = kStatusIntervalNs;
  if (sd_watchdog_enabled(0, &watchdog_us_) <= 0) watchdog_us_ = 0;
  expected_us_ = watchdog_us_;
  if (watchdog_us_ > 0) {
    interval_ns_ = std::min(interval_ns_, static_cast<std::int64_t>(watchdog_us_) * 1000 / kBeatsPerWatchdog);
  }
  next_beat_ns_ = 0;
}

void ServiceManager::ready() noexcept {
  send("READY=1");
}

void ServiceManager::stopping() noexcept {
  if (std::exchange(said_stopping_, true)) return;
  // The last sync may take longer than the manager gives us to stop.
  send(expected_us_ > watchdog_us_ ? fmt::format("STOPPING=1\nEXTEND_TIMEOUT_USEC={}", expected_us_) : "STOPPING=1");
}

void ServiceManager::describe(std::function<std::string()> text) noexcept {
  text_ = std::move(text);
  send("");
}

void ServiceManager::describe(const std::string& text) noexcept {
  if (next_beat_ns_ == kNoManager) return;
  describe([text] { return text; });
}

void ServiceManager::beat(std::int64_t now_ns) noexcept {
  if (now_ns < next_beat_ns_) return;
  next_beat_ns_ = now_ns + interval_ns_;
  send(watchdog_us_ > 0 ? "WATCHDOG=1" : "");
}

void ServiceManager::expect_work_on(std::uint64_t bytes) noexcept {
  if (watchdog_us_ == 0) return;
  const std::uint64_t expected_us = watchdog_us_ + bytes / kSlowBytesPerUs;
  if (std::exchange(expected_us_, expected_us) == expected_us) return;
  send(fmt::format("WATCHDOG_USEC={}\nWATCHDOG=1", expected_us));
}

/// With the status, if there is one. A manager that cannot be told is not ours to mend, nor is a lack of memory here.
void ServiceManager::send(std::string message) noexcept {
  if (next_beat_ns_ == kNoManager) return;
  try {
    if (text_) message += (message.empty() ? "STATUS=" : "\nSTATUS=") + text_();
    if (!message.empty()) sd_notify(0, message.c_str());
  } catch (const std::exception&) {
  }
}

}  // namespace ringside
