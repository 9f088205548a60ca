// SPDX-License-Identifier: BSD-3-Clause
// The ten access patterns of Patil et al., MEMSYS 2019: for each memory, from its own NUMA node and from another node,
// with several numbers of threads.
#include <fmt/format.h>

#include <algorithm>

#include "node/experiments/experiment.hpp"
#include "node/experiments/kernel_rounds.hpp"
#include "node/streams/cores.hpp"

namespace ringside {
namespace {

constexpr int kUsualPatilRounds = 5;

/// The threads of one NUMA node that access one memory.
struct ThreadsOnMemory {
  Tier tier;
  std::string distance;  // "local", "remote", "any": threads on all nodes, or the folder's node is not known
  std::vector<int> cpus;
};

std::vector<ThreadsOnMemory> all_placements(const Surroundings& around) {
  std::vector<int> nodes_with_cpus;
  for (const HardwareThread& thread : around.machine.threads) nodes_with_cpus.push_back(thread.numa_node);
  std::sort(nodes_with_cpus.begin(), nodes_with_cpus.end());
  nodes_with_cpus.erase(std::unique(nodes_with_cpus.begin(), nodes_with_cpus.end()), nodes_with_cpus.end());
  std::vector<Tier> tiers;
  for (const int node : around.numa_nodes) tiers.push_back(dram_tier(node));
  tiers.insert(tiers.end(), around.folders.begin(), around.folders.end());
  std::vector<ThreadsOnMemory> placements;
  for (const Tier& tier : tiers) {
    if (tier.numa_node < 0 || nodes_with_cpus.size() == 1) {
      placements.push_back({tier, tier.numa_node < 0 ? "any" : "local", around.cpus});
      continue;
    }
    for (const int node : nodes_with_cpus) {
      const std::vector<int> cpus = cpus_in_order(around.machine, node);
      if (!cpus.empty()) placements.push_back({tier, node == tier.numa_node ? "local" : "remote", cpus});
    }
  }
  return placements;
}

std::vector<const StreamKernel*> loops_of_patil() {
  std::vector<const StreamKernel*> loops;
  for (const StreamKernel& kernel : stream_kernels()) {
    if (kernel.source == StreamSource::kPatil) loops.push_back(&kernel);
  }
  return loops;
}

void add_missing(ResultTable& table, const std::string& memory, const std::string& distance,
                 const std::string& reason) {
  const NotAvailable none{reason};
  for (const StreamKernel* kernel : loops_of_patil()) {
    table.rows.push_back({kernel->figure, kernel->name, memory, distance, none, none, none, none, none, none});
  }
}

void add_plots(ExperimentResult& result) {
  for (const StreamKernel* kernel : loops_of_patil()) {
    Plot plot{fmt::format("{} {}: {}", kernel->figure, kernel->name, kernel->loop), "threads", "GB/s, counted", {}};
    for (const auto& row : result.tables.front().rows) {
      if (std::get<std::string>(row[1]) != kernel->name || !std::holds_alternative<double>(row[4])) continue;
      const std::string label = fmt::format("{}, {}", std::get<std::string>(row[2]), std::get<std::string>(row[3]));
      if (plot.lines.empty() || plot.lines.back().label != label) plot.lines.push_back({label, {}});
      plot.lines.back().points.emplace_back(std::get<double>(row[4]), std::get<double>(row[5]));
    }
    result.plots.push_back(std::move(plot));
  }
}

}  // namespace

ExperimentResult streams_experiment(const Surroundings& around) {
  ExperimentResult result;
  result.tables.push_back(
      {"rates",
       "Rates (counted: every access of the loop, also cache hits; moved: the least that memory must move)",
       {{"figure", "figure", "", 0},
        {"kernel", "loop", "", 0},
        {"memory", "memory", "", 0},
        {"distance", "distance", "", 0},
        {"threads", "threads", "", 0},
        {"median_gb_s", "median", "GB/s", 2},
        {"spread", "spread", "%", 1},
        {"moved_gb_s", "moved", "GB/s", 2},
        {"gflop_s", "flops", "Gflop/s", 3},
        {"median_s", "median", "s", 5}},
       {}});
  ResultTable& table = result.tables.front();
  ResultTable counters = empty_counters_table();
  const std::uint64_t elements = around.elements_or_beyond_cache();
  const std::vector<const StreamKernel*> loops = loops_of_patil();
  for (const ThreadsOnMemory& placement : all_placements(around)) {
    const int most = static_cast<int>(placement.cpus.size());
    for (const int threads : around.options.threads.empty() ? usual_thread_counts(most) : around.options.threads) {
      if (threads > most) {
        add_missing(table, placement.tier.name, placement.distance,
                    fmt::format("its NUMA node has {} processors, but {} threads were requested", most, threads));
        continue;
      }
      around.report(fmt::format("streams: {} {}, {} thread(s)", placement.tier.name, placement.distance, threads));
      RoundsSetting setting;
      setting.tier = placement.tier;
      setting.cpus = cpus_for(placement.cpus, threads, "--threads");
      setting.elements = elements;
      setting.apart = std::max<std::uint64_t>(around.machine.l3_bytes / sizeof(double), kStreamStride);
      setting.rounds = around.repeats_or(kUsualPatilRounds) + 1;
      const RoundsResult rounds = run_rounds(loops, setting);
      add_counters(counters, fmt::format("{} {}", placement.tier.name, placement.distance), threads, rounds);
      for (const KernelTimes& times : rounds.kernels) {
        const Rates rates = rates_of(times, elements);
        const auto flops = static_cast<double>(stream_elements(*times.kernel, elements)) * times.kernel->flops;
        table.rows.push_back({times.kernel->figure, times.kernel->name, placement.tier.name, placement.distance,
                              threads, rates.median_gb_s.value, rates.median_gb_s.spread * 100, rates.moved_gb_s.value,
                              flops / rates.seconds.value * 1e-9, rates.seconds.value});
        for (ThreadSeries series : times.per_thread) {
          series.setting = fmt::format("{}, {} {}, {} threads", times.kernel->name, placement.tier.name,
                                       placement.distance, threads);
          result.series.push_back(std::move(series));
        }
      }
    }
  }
  if (around.numa_nodes.size() == 1)
    add_missing(table, "DRAM", "remote", "this machine has memory on one NUMA node only");
  if (const std::string reason = why_no_nvdimm(around); !reason.empty()) add_missing(table, "NVDIMM", "local", reason);
  add_plots(result);
  result.tables.push_back(std::move(counters));
  result.remarks.push_back(
      fmt::format("Each array has {} bytes; {} repeats are counted, after one that is not; where the paper gives no "
                  "code, the loop is ours.",
                  elements * sizeof(double), around.repeats_or(kUsualPatilRounds)));
  return result;
}

}  // namespace ringside
