// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/report.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "common/json/json.hpp"

namespace ringside {

void Report::start(std::function<Json()> describe) {
  if (fd_ < 0) return;
  thread_ = std::jthread([this, describe = std::move(describe)](const std::stop_token& stopping) {
    std::mutex mutex;
    std::condition_variable_any woken;
    std::unique_lock lock(mutex);
    while (!stopping.stop_requested()) {
      woken.wait_for(lock, stopping, std::chrono::milliseconds(kReportIntervalMs), [] { return false; });
      if (!stopping.stop_requested()) write(describe());
    }
  });
}

void Report::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void Report::write(const Json& line) {
  if (fd_ < 0) return;
  // File names may contain any byte. Invalid UTF-8 is replaced, so that the line can still be written.
  const std::string text = line.dump_sorted() + "\n";
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t count = ::write(fd_, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace ringside
