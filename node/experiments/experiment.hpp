// SPDX-License-Identifier: BSD-3-Clause
// The list of experiments, and their parameters: the machine, the tiers, the threads and the sizes. `ringside
// experiment` runs them; docs/use/experiments.md explains their output.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/program/topology.hpp"
#include "node/applications/app_settings.hpp"
#include "node/experiments/result.hpp"
#include "node/model/node.hpp"

namespace ringside {

struct ExperimentOptions {
  std::vector<std::string> memory;  // folders, each a tier
  std::vector<int> threads;         // ascending; empty: the experiment's default
  int repeats = 0;                  // 0: the experiment's default
  std::uint64_t bytes = 0;          // the size of one array; 0: the experiment's default
  AppsOptions apps;                 // for the experiment `apps` only
};

struct Surroundings {
  ExperimentOptions options;
  Machine machine;
  std::vector<int> cpus;                             // the CPUs that threads take, in this order
  std::vector<int> numa_nodes;                       // the NUMA nodes that have memory
  std::vector<Tier> folders;                         // the tiers of options.memory
  std::function<void(const std::string&)> progress;  // takes one line; may be empty

  void report(const std::string& line) const {
    if (progress) progress(line);
  }
  int repeats_or(int usual) const { return options.repeats > 0 ? options.repeats : usual; }
  /// Elements of an array: from options.bytes; otherwise `arrays_together` arrays have four times the size of the
  /// last-level caches, and each has at least 4 MiB.
  std::uint64_t elements_or_beyond_cache(std::uint64_t arrays_together = 1) const;
};

/// Throws Error: exit code 2 if a name is not that of a folder, or a folder is named twice; 3 if a folder is not
/// writable, or if there are fewer processors than threads. Messages name --memory and --threads.
Surroundings surroundings_for(const ExperimentOptions& options);

struct Experiment {
  std::string_view name;
  std::string_view does;    // its purpose in one line
  std::string_view source;  // the publication
  ExperimentResult (*run)(const Surroundings& around);
};

std::span<const Experiment> experiments() noexcept;

/// For an unknown name, throws Error (exit code 2) that lists the existing names.
const Experiment& find_experiment(std::string_view name);

/// The tier to compare with DRAM: the first folder; without a folder DRAM itself, with a remark.
Tier second_tier(const Surroundings& around, ExperimentResult& result);

/// Above this spread a remark states that the machine was busy.
inline constexpr double kBusySpreadPercent = 20;

/// Adds a remark that the machine was busy if a spread in the tables is above that limit.
void remark_if_busy(ExperimentResult& result);

/// The reason why none of the tiers is an NVDIMM; empty if one is.
std::string why_no_nvdimm(const Surroundings& around);

/// The input of the experiment `pipeline`, for other programs on the same problem.
struct PipelineProblem {
  std::uint64_t side = 0;  // the side of the grid
  int iterations = 0;
  std::vector<int> cpus;  // generation takes the first ones
};
PipelineProblem pipeline_problem(const Surroundings& around);

ExperimentResult stream_experiment(const Surroundings& around);
ExperimentResult compete_experiment(const Surroundings& around);
ExperimentResult placement_experiment(const Surroundings& around);
ExperimentResult streams_experiment(const Surroundings& around);
ExperimentResult pipeline_experiment(const Surroundings& around);
ExperimentResult apps_experiment(const Surroundings& around);

}  // namespace ringside
