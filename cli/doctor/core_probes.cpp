// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "cli/doctor/probes.hpp"
#include "common/platform/system_files.hpp"

namespace ringside {
namespace {

/// The set of NUMA nodes that `cpus` belong to.
std::set<int> nodes_of(const Machine& machine, const std::vector<int>& cpus) {
  std::set<int> nodes;
  for (const HardwareThread& thread : machine.threads) {
    if (std::find(cpus.begin(), cpus.end(), thread.cpu) != cpus.end()) nodes.insert(thread.numa_node);
  }
  return nodes;
}

/// At most `most` usable cores of `node`, each named by one of its threads. Takes the cores with the highest numbers,
/// because a core plan gives these to the analyzer.
CoreList highest_cores(const Machine& machine, int node, std::size_t most) {
  std::set<int> cores;
  std::vector<int> first_threads;
  for (const HardwareThread& thread : machine.threads) {
    if (thread.numa_node == node && thread.allowed && cores.insert(thread.core).second) {
      first_threads.push_back(thread.cpu);
    }
  }
  if (first_threads.size() > most)
    first_threads.erase(first_threads.begin(), first_threads.end() - static_cast<long>(most));
  return {first_threads};
}

/// The first region on one of `nodes`; "" if there is none.
std::string region_on(const std::set<int>& nodes, const std::string& root) {
  const std::string devices = root + "/sys/bus/nd/devices/";
  for (const std::string& region : entries_of(devices, "region")) {
    const auto node = number_in(devices + region + "/numa_node");
    if (node && nodes.contains(static_cast<int>(*node))) return region;
  }
  return "";
}

}  // namespace

Finding probe_cores(const Machine& machine) {
  const MachineCounts counts = count(machine);
  Finding finding{"cores",
                  Verdict::kOk,
                  fmt::format("{}sockets {}, NUMA nodes {}, cores {}, hardware threads {} ({} may be used here)",
                              machine.model.empty() ? "" : machine.model + ": ", counts.packages, counts.numa_nodes,
                              counts.cores, counts.threads, counts.allowed_threads),
                  "",
                  {{"model", machine.model},
                   {"packages", std::int64_t{counts.packages}},
                   {"numa_nodes", std::int64_t{counts.numa_nodes}},
                   {"cores", std::int64_t{counts.cores}},
                   {"threads", std::int64_t{counts.threads}},
                   {"allowed_threads", std::int64_t{counts.allowed_threads}},
                   {"smt", counts.smt}}};
  if (counts.allowed_threads < 2) {
    finding.verdict = Verdict::kNote;
    finding.advice =
        "producer and analyzer will take turns on one core; allow a second core (taskset, cgroup, machine size)";
    return finding;
  }
  const CorePlan plan = plan_cores(machine, {}, {});
  finding.found += fmt::format("; a run would use {} for the producer and {} for the analyzer",
                               to_string(CoreList{plan.producer}), to_string(CoreList{plan.analyzer}));
  finding.facts.emplace_back("producer_cores", to_string(CoreList{plan.producer}));
  finding.facts.emplace_back("analyzer_cores", to_string(CoreList{plan.analyzer}));
  return finding;
}

Finding probe_numa(const Machine& machine, const PoolDevice& device, const std::string& root) {
  Finding finding{"numa", Verdict::kOk, "", "", {{"pool_device_node", device.numa_node}}};
  const MachineCounts counts = count(machine);
  if (counts.numa_nodes < 2) {
    finding.found = "one NUMA node: every core is equally near to the pool";
    return finding;
  }
  if (device.numa_node < 0) {
    finding.found = fmt::format("{} NUMA nodes; {} does not report its node", counts.numa_nodes, device.text());
    return finding;
  }
  if (counts.allowed_threads < 2) {
    finding.found = fmt::format("/dev/{} is on node {}", device.name, device.numa_node);
    return finding;
  }
  const CorePlan plan = plan_cores(machine, {}, {});
  const std::set<int> planned = nodes_of(machine, plan.analyzer);
  finding.facts.emplace_back("analyzer_cores", to_string(CoreList{plan.analyzer}));
  finding.found = fmt::format("/dev/{} is on node {}, and the analyzer's cores {} are on node {}", device.name,
                              device.numa_node, to_string(CoreList{plan.analyzer}), fmt::join(planned, " and "));
  const int node = static_cast<int>(device.numa_node);
  if (planned == std::set<int>{node}) return finding;

  finding.verdict = Verdict::kNote;
  const CoreList near = highest_cores(machine, node, plan.analyzer.size());
  const std::string region = region_on(planned, root);
  const std::string move =
      region.empty()
          ? ""
          : fmt::format("; or keep the pool in {}: `ndctl create-namespace --mode=fsdax --region={}`", region, region);
  if (near.cpus.empty()) {
    finding.advice = fmt::format("no core of node {} may be used here: allow some (taskset, cpuset){}", node, move);
    return finding;
  }
  finding.facts.emplace_back("near_cores", to_string(near));
  finding.advice =
      fmt::format("stores into another node's memory are slow: use `--analyzer-cores {}`{}", to_string(near), move);
  return finding;
}

}  // namespace ringside
