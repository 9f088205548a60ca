// The recorder: a thread that takes what the analyzer's main thread leaves in the queue, numbers it, keeps it in the
// journal, publishes it, and answers those who ask (docs/live.md). It owns the journal, the sockets and the sums that
// the status shows; the main thread waits for it only when a run is over.
//
// The journal is opened when a run is taken in, and closed with it: it belongs to whoever owns the pool. Between runs
// the past is read from its files, like anybody does.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/recorder/record_queue.hpp"
#include "analyzer/ring/storage.hpp"
#include "common/options/durability.hpp"
#include "common/options/journal_options.hpp"
#include "common/options/options.hpp"
#include "common/telemetry/step_figures.hpp"

namespace ringside {

struct RecorderOptions {
  std::string pool;
  std::string socket;  // the analyzer's, whose lock the caller holds
  JournalOptions journal;
  TelemetryOptions telemetry;
  Durability durability = Durability::kPower;
  std::vector<int> cpus;  // of its thread, and ZeroMQ's; empty: wherever the caller may run
};

/// What the recorder has to know of a run beside what it records.
struct RecordedRun {
  // What the ring held when the run was taken in, including a run that was discarded for it: the journal may lack some.
  std::vector<StepFigures> kept;
  Storage storage = Storage::kFile;
  wire::RunStarted started;
};

class Recorder {
 public:
  /// Starts the thread. Throws Error: as Telemetry. `stop_run` is set when somebody asks for the end of the run.
  Recorder(const RecorderOptions& options, std::atomic<bool>& stop_run);
  /// Publishes what is left, and ends the thread.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Where the main thread leaves the figures of each step.
  RecordQueue& queue() noexcept;

  /// Before the first step of a run. Waits for nothing: opening the journal takes its time.
  void begin_run(const RecordedRun& run);
  /// After the last. Returns when all of it is in the journal, and the journal closed.
  void end_run(const wire::RunEnded& ended);

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace ringside
