// SPDX-License-Identifier: BSD-3-Clause
// The list of experiments, and what each is given: the machine, the tiers, the threads and the sizes.
// `ringside experiment` calls them; docs/use/experiments.md says how to read what they print.
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
  std::vector<int> threads;         // ascending; empty: what the experiment usually takes
  int repeats = 0;                  // 0: what the experiment usually takes
  std::uint64_t bytes = 0;          // of one array; 0: what the experiment usually takes
  AppsOptions apps;                 // of `apps` only
};

struct Surroundings {
  ExperimentOptions options;
  Machine machine;
  std::vector<int> cpus;                             // that threads take, in this order
  std::vector<int> numa_nodes;                       // that have memory
  std::vector<Tier> folders;                         // of options.memory
  std::function<void(const std::string&)> progress;  // takes one line; may be empty

  void report(const std::string& line) const {
    if (progress) progress(line);
  }
  int repeats_or(int usual) const { return options.repeats > 0 ? options.repeats : usual; }
  /// Elements of an array: of options.bytes, else enough that `arrays_together` arrays are four times as large as the
  /// last-level caches, and at least 4 MiB each.
  std::uint64_t elements_or_beyond_cache(std::uint64_t arrays_together = 1) const;
};

/// Throws Error: exit code 2 for a folder that is none or is named twice, 3 for one that cannot be written to or fewer
/// processors than threads. Messages name --memory and --threads.
Surroundings surroundings_for(const ExperimentOptions& options);

struct Experiment {
  std::string_view name;
  std::string_view does;    // one line
  std::string_view source;  // the publication
  ExperimentResult (*run)(const Surroundings& around);
};

std::span<const Experiment> experiments() noexcept;

/// Throws Error (exit code 2) that lists the names.
const Experiment& find_experiment(std::string_view name);

/// The tier beside DRAM: the first folder; without one DRAM itself, and a remark that says so.
Tier second_tier(const Surroundings& around, ExperimentResult& result);

/// Above it a remark says that the machine was busy.
inline constexpr double kBusySpreadPercent = 20;

/// Adds that remark if a spread in the tables is above the limit.
void remark_if_busy(ExperimentResult& result);

/// Why there is no NVDIMM among the tiers; empty if there is one.
std::string why_no_nvdimm(const Surroundings& around);

/// What the experiment `pipeline` works on, for other programs on the same problem.
struct PipelineProblem {
  std::uint64_t side = 0;  // of the grid
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
