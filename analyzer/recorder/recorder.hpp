// SPDX-License-Identifier: BSD-3-Clause
// The recorder: a thread that takes items from the main thread's queue, numbers them, keeps them in the journal,
// publishes them, and answers requests (docs/use/live.md). It owns the journal, the sockets and the sums that the
// status shows. The main thread waits for it only when a run is over.
//
// The journal is open only during a run, because it belongs to the process that owns the pool. Between runs, past
// records are read from its files, as any other process reads them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/recorder/record_queue.hpp"
#include "analyzer/ring/kept_steps.hpp"
#include "common/options/journal_options.hpp"
#include "common/options/options.hpp"
#include "common/records/known_runs.hpp"
#include "common/records/recorded_step.hpp"
#include "common/ring/durability.hpp"
#include "common/ring/storage.hpp"
#include "common/triggers/trigger_spec.hpp"

namespace ringside {

struct RecorderOptions {
  std::string pool;
  std::string socket;  // the analyzer's, whose lock the caller holds
  JournalOptions journal;
  TelemetryOptions telemetry;
  Durability durability = Durability::kPower;
  double peer_timeout_s = 30;  // after which the producer takes a main thread that waits for lost
  std::vector<int> cpus;  // of its thread, and ZeroMQ's; empty: wherever the caller may run
};

/// What the recorder needs of a run beside what it records.
struct RunToRecord {
  // The steps that the ring held when the run was admitted, also those of a run that was discarded for it: the journal
  // may lack some.
  std::vector<RecordedStep> kept_steps;
  // Those that the ring describes: the journal may lack some.
  std::vector<KnownRun> described_runs;
  Storage storage = Storage::kFile;
  SharedLayout layout;  // of its steps
  std::vector<TriggerSpec> triggers;  // which its steps' marks name
  wire::RunStarted started;
  std::uint64_t last_iteration = 0;  // of the step before the first one that will be recorded; 0: none, or not known
};

class Recorder {
 public:
  /// Starts the thread. Throws Error as Telemetry does. stop_run: set when a client asks for the end of the run.
  Recorder(const RecorderOptions& options, std::atomic<bool>& stop_run);
  /// Publishes the records that are left, and ends the thread.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// The main thread pushes each step here, after begin_run.
  RecordQueue& queue() noexcept;

  /// To be called before the first step of a run, and after end_run of the run before. Does not wait for the journal,
  /// which may take long to open.
  void begin_run(const RunToRecord& run);
  /// To be called after the last step. Returns when all records are in the journal and the journal is closed.
  void end_run(const wire::RunEnded& ended);

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace ringside
