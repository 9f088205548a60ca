// SPDX-License-Identifier: BSD-3-Clause
#include "node/experiments/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"
#include "node/streams/cores.hpp"
#include "node/streams/tier_memory.hpp"

namespace ringside {
namespace {

constexpr std::string_view kThesis = "S. G. Fagerheim, master's thesis, University of Oslo 2021";

constexpr std::array kExperiments = {
    Experiment{"stream", "copy, scale, add and triad, in each memory, with plain and with non-temporal stores",
               "J. D. McCalpin, STREAM; as used by S. G. Fagerheim, 2021, 5.2 and 5.3", stream_experiment},
    Experiment{"compete", "threads that copy in DRAM beside threads that read or write another memory", kThesis,
               compete_experiment},
    Experiment{"placement", "how much of a stencil belongs in the other memory: predicted and measured", kThesis,
               placement_experiment},
    Experiment{"streams", "ten access patterns over threads, memories and NUMA nodes",
               "O. Patil et al., MEMSYS 2019, 6.1", streams_experiment},
    Experiment{"pipeline", "a power iteration beside five sums over a copy of each iterate, for every split", kThesis,
               pipeline_experiment},
    Experiment{"apps", "whole programs in DRAM, in far memory, and in Memory Mode with several sizes of DRAM",
               "M. Michel, KIT 2020, 5.5; O. Patil et al., MEMSYS 2019, 6.2", apps_experiment},
};

constexpr std::uint64_t kLeastBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kCacheUnknown = std::uint64_t{32} << 20;

}  // namespace

std::uint64_t Surroundings::elements_or_beyond_cache(std::uint64_t arrays_together) const {
  if (options.bytes > 0) return options.bytes / sizeof(double);
  const std::uint64_t cache = last_level_cache_bytes(machine);
  const std::uint64_t wanted = 4 * (cache > 0 ? cache : kCacheUnknown) / arrays_together;
  return std::max(wanted, kLeastBytes) / sizeof(double);
}

Surroundings surroundings_for(const ExperimentOptions& options) {
  Surroundings around;
  around.options = options;
  around.machine = read_machine();
  around.cpus = cpus_in_order(around.machine);
  around.numa_nodes = numa_nodes_with_memory();
  for (const int threads : options.threads) (void)cpus_for(around.cpus, threads, "--threads");
  for (const std::string& folder : options.memory) {
    for (const Tier& other : around.folders) {
      if (other.path == folder)
        throw usage_error("--memory: found '{}' twice; expected each folder once", shortened(folder));
    }
    around.folders.push_back(folder_tier(folder, "--memory"));
  }
  return around;
}

std::span<const Experiment> experiments() noexcept {
  return kExperiments;
}

const Experiment& find_experiment(std::string_view name) {
  std::string names;
  for (const Experiment& experiment : kExperiments) {
    if (experiment.name == name) return experiment;
    names += fmt::format("{}, ", experiment.name);
  }
  throw usage_error("NAME: found '{}', expected one of {}list", shortened(name), names);
}

Tier second_tier(const Surroundings& around, ExperimentResult& result) {
  if (!around.folders.empty()) return around.folders.front();
  result.remarks.emplace_back(
      "No folder was named with --memory: DRAM takes the place of the other memory, so both groups work in DRAM.");
  return dram_tier();
}

void remark_if_busy(ExperimentResult& result) {
  double most = 0;
  for (const ResultTable& table : result.tables) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (!table.columns[c].key.ends_with("spread")) continue;
      for (const auto& row : table.rows) {
        if (const double* spread = std::get_if<double>(&row[c])) most = std::max(most, *spread);
      }
    }
  }
  if (most > kBusySpreadPercent) {
    result.remarks.push_back(fmt::format(
        "The machine was busy, or the arrays are small: repeats spread by up to {:.0f} % (limit: {:.0f} %).", most,
        kBusySpreadPercent));
  }
}

std::string why_no_nvdimm(const Surroundings& around) {
  for (const Tier& tier : around.folders) {
    if (tier.kind == TierKind::kDax) return {};
  }
  return around.folders.empty() ? "no folder was named with --memory" : "no folder of --memory is on DAX";
}

}  // namespace ringside
