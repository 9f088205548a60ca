// How a producer or analyzer tells the program that started it how it is doing: lines of JSON on an inherited file
// descriptor (`--report-fd`), a few a second while it runs and one at the end. Written by a thread of its own, so that
// the per-step path only counts.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include <nlohmann/json_fwd.hpp>

namespace ringside {

/// Milliseconds between two lines of progress: often enough for an eye.
inline constexpr int kReportIntervalMs = 100;

class Report {
 public:
  /// Writes to `fd`; below 0 nothing is written at all.
  explicit Report(int fd) : fd_(fd) {}
  ~Report() { stop(); }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// From now on `describe` is called on the report's own thread for each line of progress. It reads atomics.
  void start(std::function<nlohmann::json()> describe);

  /// Ends the lines of progress; returns when the thread is gone.
  void stop();

  /// Writes one line now. A reader that went away is not an error here: who started us decides what its death means.
  void write(const nlohmann::json& line);

 private:
  int fd_;
  std::jthread thread_;
};

}  // namespace ringside
