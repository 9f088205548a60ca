// What `ringside serve` shows, with one writer (the thread that takes in records) and many readers (the threads that
// answer requests): the run's history, and whether the analyzer is there.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "cli/history/run_history.hpp"

namespace ringside {

/// The analyzer as it is seen from here.
struct AnalyzerView {
  bool up = false;
  bool was_up = false;               // ever
  std::int64_t since_unix_ns = 0;    // up, or not up, since then
  std::uint64_t changes = 0;         // how often another one came
  std::optional<wire::Status> last;  // what it last said of itself
};

class WatchedRun {
 public:
  WatchedRun();

  // The writer's.
  void take(std::span<const wire::Record> records);
  void take(const wire::Status& status);
  void analyzer_is(bool up);
  void another_analyzer_came();
  /// What follows is of another journal, with a numbering of its own.
  void begin_anew();

  // Any thread's. JSON objects as text, and Prometheus' text format.
  std::string status_json() const;
  /// Those from seq `from` on, at most `limit`, with {run_id, newest_seq, more}.
  std::string steps_json(std::uint64_t from, std::size_t limit) const;
  std::string metrics_text() const;

 private:
  void set_up(bool up);

  mutable std::mutex mutex_;
  RunHistory history_;
  AnalyzerView analyzer_;
};

}  // namespace ringside
