// SPDX-License-Identifier: BSD-3-Clause
// Progress reports of a producer or analyzer to the program that started it: lines of JSON on an inherited file
// descriptor (`--report-fd`), ten a second during the run and one at the end. A separate thread writes them, so that
// the per-step path only counts.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "common/json/json.hpp"

namespace ringside {

/// Milliseconds between two lines of progress: often enough for a user.
inline constexpr int kReportIntervalMs = 100;

class Report {
 public:
  /// Writes to `fd`; below 0: writes nothing.
  explicit Report(int fd) : fd_(fd) {}
  ~Report() { stop(); }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// From now on the report's own thread calls `describe` for each line of progress; `describe` must read only atomics.
  void start(std::function<Json()> describe);

  /// Ends the lines of progress; returns when the thread has ended.
  void stop();

  /// Writes one line now. It is not an error if the reader has gone: other code detects this and acts on it.
  void write(const Json& line);

 private:
  int fd_;
  std::jthread thread_;
};

}  // namespace ringside
