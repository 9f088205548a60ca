// SPDX-License-Identifier: BSD-3-Clause
// The recorder: a thread that takes items from the main thread's queue, numbers them, keeps them in the journal,
// publishes them, and answers requests (docs/use/live.md). It owns the journal, the sockets and the status's sums. The
// main thread waits for the recorder only at the end of a run.
//
// The journal is open only during a run, because it belongs to the process that owns the pool. Between runs, the
// recorder reads past records from the journal's files like any other process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/recorder/record_queue.hpp"
#include "analyzer/ring/kept_results.hpp"
#include "common/journal/journal_files.hpp"
#include "common/options/options.hpp"
#include "common/records/record_layout.hpp"
#include "common/records/step_results.hpp"
#include "common/ring/storage.hpp"
#include "common/triggers/trigger_spec.hpp"

namespace ringside {

struct RecorderOptions {
  std::string pool;
  std::string socket;  // the analyzer's socket; the caller holds its lock
  JournalOptions journal;
  TelemetryOptions telemetry;
  Durability durability = Durability::kPower;
  double peer_timeout_s = 30;  // the time after which the producer considers a waiting main thread lost
  std::vector<int> cpus;  // the cores of the recorder's and ZeroMQ's threads; empty: the caller's cores
};

/// The data of a run that the recorder needs in addition to the run's records.
struct RunToRecord {
  // The steps that the ring held at the admission, including the steps of a run that was discarded for this run. The
  // journal may lack some of these steps.
  std::vector<RecordedStep> kept_steps;
  // The runs that the ring describes. The journal may lack some of these descriptions.
  std::vector<KnownRun> described_runs;
  Storage storage = Storage::kFile;
  SharedLayout layout;  // the layout of the run's steps
  std::vector<TriggerSpec> triggers;  // the run's triggers, to which the marks of its steps refer
  wire::RunStarted started;
  std::uint64_t last_iteration = 0;  // that of the step before the first recorded step; 0: no such step, or unknown
};

class Recorder {
 public:
  /// Starts the thread. Throws Error as Telemetry does. stop_run: set when a client requests the end of the run.
  Recorder(const RecorderOptions& options, std::atomic<bool>& stop_run);
  /// Publishes the remaining records, and ends the thread.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// The main thread pushes each step here, after begin_run.
  RecordQueue& queue() noexcept;

  /// Call before the first step of a run, and after the previous run's end_run. Does not wait for the journal, because
  /// opening it may take long.
  void begin_run(const RunToRecord& run);
  /// Call after the last step. Returns when all records are in the journal and the journal is closed.
  void end_run(const wire::RunEnded& ended);

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace ringside
