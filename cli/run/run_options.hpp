// SPDX-License-Identifier: BSD-3-Clause
// The options of `ringside run`, and the functions that are common to runs with a built-in solver and runs with a
// program of the user after `--`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/supervision/child.hpp"
#include "common/files/output_file.hpp"
#include "common/json/json.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"
#include "common/program/topology.hpp"

namespace ringside {

struct RunOptions {
  SolveOptions solve;
  PublishOptions publish;
  PeerOptions peer;
  RingOptions ring;
  JournalOptions journal;
  TelemetryOptions telemetry;
  ReduceOptions reduce;
  PlugInOptions plug_ins;
  TriggerOptions triggers;
  std::vector<std::string> analyze;  // Python files
  AnalysisOptions analysis;
  CoreOptions cores;
  Mode mode = Mode::kPipeline;
  std::string node_file;
  bool adapt = false;
  std::string summary;
  bool quiet = false;
  int ranks = 0;          // the number of ranks of an MPI program; 0: one process
  std::string hosts;      // path of the host file
  bool per_node = false;  // mpirun or srun started this process as one rank of many
  std::string resume_from;  // the rings of an earlier job of several ranks
  std::vector<std::string> program;  // PROGRAM ARGS...; empty: a built-in solver
  bool built_in_program = false;     // `program` is a built-in solver for several ranks
  std::string plan;                  // not empty: only the trials of the program, printed as "text" or "json"
};

void declare(CommandLine& line, RunOptions& options);

// The least limit of open descriptors. It is enough for this process, and for the analyzer, which inherits the limit
// and needs more descriptors than this process.
inline constexpr std::size_t kRunDescriptors = 128;

/// The path of another of our programs, beside this one.
std::string sibling(const char* program);

/// analyzer_threads: the number of cores that the analyzer gets if its list is not given; empty: determined by the
/// topology.
CorePlan cores_for(const RunOptions& options, std::optional<int> analyzer_threads = std::nullopt);

/// The files that the run reads or keeps. Its summary must not replace them.
std::vector<KeptFile> kept_files(const CommandLine& line, const RunOptions& options);

void write_summary(const std::string& path, const std::vector<KeptFile>& kept, const Json& summary);

/// What is added to the warning that both processes share a core.
const char* no_core_to_lend(const RunOptions& options) noexcept;

/// If `child` ended without reporting the reason, reports how it ended, and returns true.
bool report_death(const char* name, const Child& child);

}  // namespace ringside
