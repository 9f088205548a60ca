// SPDX-License-Identifier: BSD-3-Clause
// All options of a run. This file has the default and the meaning of each option beside its field. options.cpp declares
// each option's flag, file key and help text once. `ringside run` declares all options and passes to each process the
// options of that process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/handoff/handoff_environment.hpp"
#include "common/handoff/handoff_options.hpp"
#include "common/journal/journal_files.hpp"
#include "common/options/solver_choice.hpp"
#include "common/ring/storage.hpp"

namespace ringside {

class CommandLine;

enum class Mode {
  kPipeline,  // a producer and an analyzer; the iterates are stored
  kDram       // the baseline: one process, the same solver and reductions; no iterate is stored
};
enum class WhenFull { kWait, kSkip };
enum class ReduceAt {
  kSlot,     // in the step's slot, after the commit
  kTransfer  // during the copy into the slot
};

// The largest number of iterations if --iterations is not given. Without a tolerance this number is small, so that a
// first try ends soon. With a tolerance it is large, so that the tolerance usually ends the run.
inline constexpr std::uint64_t kFewIterations = 100;
inline constexpr std::uint64_t kMostIterations = 1'000'000;

/// The producer's options for the problem and the solver.
struct SolveOptions {
  std::string matrix;               // FILE, grid:SIDE or rmat:SCALE[:EDGEFACTOR[:SEED]]
  std::string solver = "pagerank";  // the name of a solver in producer/solver/solver_table.cpp
  std::string columns;              // for an edge list: from, to, weight, skip; empty: `u v` or `u v weight`
  std::string rhs;                  // b: the path of an n-by-1 MatrixMarket file, or ARCHIVE:MEMBER; empty: all ones
  double damping = 0.85;            // the damping factor d
  bool damping_given = false;
  double tolerance = 0;                // stop when the L1 change is at most this; 0: never
  std::uint64_t iterations = 0;        // the limit of iterations; 0: 100, or kMostIterations if there is a tolerance
  std::uint64_t every = 1;             // publish every N-th iterate, and the last one
  std::string matrix_format = "auto";  // one of kMatrixFormatNames
  std::uint64_t last_iteration() const noexcept {
    if (iterations > 0) return iterations;
    return tolerance > 0 ? kMostIterations : kFewIterations;
  }

  bool cache = false;     // whether to map the matrix from a binary cache, which the first use writes
  std::string cache_dir;  // the folder of that cache; empty: beside the file

  std::string matrix_memory = "dram";  // dram, or far:DIR: the matrix is in a file in DIR
  std::uint64_t dram_limit_bytes = 0;  // with far:DIR: the DRAM that the matrix may use; 0: not given
};

/// The producer's options for the hand-off.
struct PublishOptions {
  CoordinationKind coordination = CoordinationKind::kLocks;
  std::uint32_t buffers = 2;  // 2 makes a double buffer
  WhenFull when_full = WhenFull::kWait;
  OnAnalyzerLoss on_analyzer_loss = OnAnalyzerLoss::kWait;
  bool elastic = false;    // whether waiting cores work for the other process
  bool resume = false;     // whether to continue from the newest iterate in the pool
  bool overwrite = false;  // whether the pool may lose the iterates of another run

  /// Throws Error (exit code 2) if both `resume` and `overwrite` are set.
  PoolUse pool_use() const;
};

/// When each of the two processes considers the other one lost.
struct PeerOptions {
  double timeout_s = 30;  // how long the other process may be absent, stopped, or without progress
};

/// The analyzer's options for the ring.
struct RingOptions {
  std::string pool = "ringside.pool";
  std::uint32_t slots = 8;  // at least 3
  bool slots_given = false;
  Durability durability = Durability::kPower;
  bool require_dax = false;   // whether to refuse storage where stores do not persist in place
  bool foreign_pool = false;  // whether pool and journal may belong to another user
};

/// The analyzer's options for telemetry.
struct TelemetryOptions {
  bool on = true;    // whether there are sockets for records and control beside the analyzer's socket
  std::string tcp;   // HOST:PORT for records, and PORT + 1 for control; empty: no access over the network
  std::string keys;  // with `tcp`: the folder of the server's keys and of the list of clients (`ringside keygen`)
  std::string node_address;  // HOST[:PORT] at which the analyzers of other nodes reach this one; empty: not reachable
};

/// The options for the reductions, which apply to the analyzer and to the baseline.
struct ReduceOptions {
  ReduceAt at = ReduceAt::kSlot;
  int passes = 1;
};

/// The user's own reductions (docs/use/questions.md), for the analyzer and `ringside replay`.
struct PlugInOptions {
  std::vector<std::string> reduce_with;  // each FILE.so:NAME[:KEY=VALUE]...
  double timeout_s = 10;                 // how long a call may take
};

/// The analyzer's conditions over the results of each step, and their actions (docs/use/questions.md).
struct TriggerOptions {
  std::vector<std::string> triggers;   // 'CONDITION: ACTION[, ACTION]'
  std::string on_non_finite = "mark";  // mark; or some of freeze, stop, keep; or keep-going
  std::vector<std::string> global_triggers;  // conditions over a whole run of several nodes; actions: mark, stop
  std::uint64_t archive_bytes = 0;     // the most bytes of steps that `keep` copies; 0: as many steps as the ring has
};

/// Options for the user's Python functions during a run: their cores, their Python, and their time
/// (docs/use/questions.md).
struct AnalysisOptions {
  std::string cores;      // "0-3"; empty: the analyzer's cores, but only while the analyzer does not use them
  std::string python;     // the path of Python; empty: python3 in PATH, or Debian's
  double timeout_s = 10;  // how long the functions may run after the end of the run
};

/// The prediction of `ringside run --cores auto` for a step, which the analyzer reports to followers. If step_ns is 0,
/// there is no prediction.
struct PlannedStepOptions {
  std::uint64_t step_ns = 0;
  std::uint64_t low_ns = 0;
  std::uint64_t high_ns = 0;
  std::uint64_t producer_idle_ns = 0;
  std::uint64_t analyzer_idle_ns = 0;
  bool adapt = false;  // if steps take longer than high_ns, try the other --reduce mode and keep the faster one
};

enum class CoreChoice {
  kTopology,  // a quarter of the cores for the analyzer
  kAuto  // the fastest choice, as the model predicts it or as trials of a user's program show (docs/inside/model.md)
};

/// The cores to which each process is pinned, as "0-3,8"; empty: Ringside chooses.
struct CoreOptions {
  CoreChoice choice = CoreChoice::kTopology;
  std::string producer_cores;
  std::string analyzer_cores;
  double trial_s = 60;  // with a program of the user: the longest time of all trials together
};

/// The options that both processes of a run accept.
struct ProcessOptions {
  std::string cores;         // "0-3,8"; empty: the process is not pinned
  bool shared_core = false;  // whether the peer runs on the same core; then no wait spins
  std::string socket = kServiceSocket;
  int report_fd = -1;  // the descriptor to which reports go; below 0: no reports
  std::string log_level = "warning";
};

enum class MatrixOption { kRequired, kRequiredWithoutProgram, kOptional };

/// solvers: the values of `--solver` (producer/solver/solver_table.hpp).
void declare(CommandLine& line, SolveOptions& options, const SolverChoices& solvers,
             MatrixOption matrix = MatrixOption::kRequired);
void declare(CommandLine& line, PublishOptions& options);
void declare(CommandLine& line, PeerOptions& options);
void declare(CommandLine& line, RingOptions& options);
void declare(CommandLine& line, JournalOptions& options);
void declare(CommandLine& line, TelemetryOptions& options);
void declare(CommandLine& line, ReduceOptions& options);
void declare(CommandLine& line, PlugInOptions& options);
void declare(CommandLine& line, TriggerOptions& options);
void declare(CommandLine& line, AnalysisOptions& options);
void declare(CommandLine& line, PlannedStepOptions& options);
void declare(CommandLine& line, CoreOptions& options);
void declare(CommandLine& line, ProcessOptions& options);
void declare(CommandLine& line, Mode& mode);

/// The prediction as the text that its option accepts as a value.
std::string to_string(const PlannedStepOptions& planned);
std::string to_string(Mode mode);
std::string to_string(ReduceAt at);
std::string to_string(CoordinationKind coordination);

}  // namespace ringside
