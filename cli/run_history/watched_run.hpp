// SPDX-License-Identifier: BSD-3-Clause
// The data that `ringside serve` shows: the run's history, and whether the analyzer is up. One thread, which receives
// the records, writes an object of this class. Any thread may read it; the HTTP server does so to answer requests.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "cli/pool_view/watched_pool.hpp"
#include "cli/run_history/run_history.hpp"

namespace ringside {

/// The analyzer's state in its last report to this process.
struct AnalyzerView {
  bool up = false;
  bool was_up = false;               // whether `up` was ever true
  std::int64_t since_unix_ns = 0;    // the time at which `up` took its present value
  std::uint64_t changes = 0;         // how often another analyzer replaced the previous one
  std::optional<wire::Status> last;  // its last status
};

class WatchedRun {
 public:
  WatchedRun();

  // The functions for the writing thread.
  void take(std::span<const wire::Record> records);
  void take(const wire::Status& status);
  void analyzer_is(bool up);
  void another_analyzer_came();
  /// The present slots of the pool; empty: this process cannot read the pool.
  void take(std::optional<RingSlots> slots);
  /// Prepares for records from another journal, which has its own numbering.
  void begin_anew();

  // The functions for any thread. The results are JSON objects as text, and metrics in Prometheus' text format.
  std::string status_json() const;
  /// The steps from seq `from` on, at most `limit`, with {run_id, newest_seq, more}. results: the full names of the
  /// results that each step contains.
  std::string steps_json(std::uint64_t from, std::size_t limit, std::span<const std::string> results = {}) const;
  std::string metrics_text() const;

 private:
  void set_up(bool up);

  mutable std::mutex mutex_;
  RunHistory history_;
  AnalyzerView analyzer_;
  std::optional<RingSlots> slots_;
};

}  // namespace ringside
