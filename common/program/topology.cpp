// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>

#include "common/platform/error.hpp"
#include "common/platform/limits.hpp"
#include "common/platform/thread.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMostAnalyzerCores = 4;  // the number of threads that saturate Optane's write bandwidth

using Cpus = std::vector<int>;

// The usable hardware threads of one physical core, ascending.
struct Core {
  int numa_node = 0;
  Cpus cpus;
};

std::vector<Core> usable_cores(const Machine& machine) {
  std::map<int, Core> by_number;
  for (const HardwareThread& thread : machine.threads) {
    if (!thread.allowed) continue;
    Core& core = by_number[thread.core];
    core.numa_node = thread.numa_node;
    core.cpus.push_back(thread.cpu);
  }
  std::vector<Core> cores;
  for (auto& [number, core] : by_number) cores.push_back(std::move(core));
  std::ranges::sort(cores, {}, [](const Core& core) { return core.cpus.front(); });
  return cores;
}

Cpus available_cpus(const Machine& machine) {
  Cpus cpus;
  for (const HardwareThread& thread : machine.threads) {
    if (thread.allowed) cpus.push_back(thread.cpu);
  }
  return cpus;
}

bool contains(const Cpus& cpus, int cpu) {
  return std::ranges::find(cpus, cpu) != cpus.end();
}

bool touches(const Core& core, const Cpus& cpus) {
  return std::ranges::any_of(core.cpus, [&](int cpu) { return contains(cpus, cpu); });
}

Cpus first_threads(const std::vector<Core>& cores) {
  Cpus cpus;
  for (const Core& core : cores) cpus.push_back(core.cpus.front());
  return cpus;
}

void require_usable(const Machine& machine, const CoreList& list, std::string_view option) {
  if (list.cpus.empty()) throw usage_error("{}: the list names no core; expected one or more, as in 0-3,8", option);
  const std::string available = to_string(CoreList{available_cpus(machine)});
  for (int cpu : list.cpus) {
    const auto found = std::ranges::find(machine.threads, cpu, &HardwareThread::cpu);
    if (found == machine.threads.end()) {
      throw system_error("{}: core {} does not exist here; available: {}", option, cpu, available);
    }
    if (!found->allowed) {
      throw system_error("{}: this process may not use core {} (taskset, cgroup); available: {}", option, cpu,
                         available);
    }
  }
}

// The cores that have no hardware thread in `taken`. If there are no such cores, returns the free siblings on the other
// cores. taker: the process that has the taken cores; other: the process that needs some of the rest.
std::vector<Core> cores_beside(const Machine& machine, const std::vector<Core>& cores, const Cpus& taken,
                               std::string_view taker, std::string_view other) {
  std::vector<Core> untouched;
  std::vector<Core> siblings;
  for (const Core& core : cores) {
    if (!touches(core, taken)) {
      untouched.push_back(core);
      continue;
    }
    Core rest{core.numa_node, {}};
    std::ranges::copy_if(core.cpus, std::back_inserter(rest.cpus), [&](int cpu) { return !contains(taken, cpu); });
    if (!rest.cpus.empty()) siblings.push_back(std::move(rest));
  }
  if (!untouched.empty()) return untouched;
  if (!siblings.empty()) return siblings;
  throw usage_error(
      "--{}-cores: {} takes every core; leave at least one to the {}, or name that process's cores with --{}-cores; "
      "available: {}",
      taker, to_string(CoreList{taken}), other, other, to_string(CoreList{available_cpus(machine)}));
}

// The last cores, at most `most`, of the NUMA node with the largest `weight` (node -> number), or of the lowest such
// node if weights are equal.
Cpus last_cores_of_best_node(const std::vector<Core>& cores, const std::map<int, std::size_t>& weight,
                             std::size_t most) {
  std::map<int, std::vector<Core>> by_node;
  for (const Core& core : cores) by_node[core.numa_node].push_back(core);
  const auto best = std::ranges::max_element(by_node, {}, [&weight](const auto& node) {
    const auto found = weight.find(node.first);
    return found == weight.end() ? std::size_t{0} : found->second;
  });
  Cpus cpus = first_threads(best->second);
  if (cpus.size() > most) cpus.erase(cpus.begin(), cpus.end() - static_cast<std::ptrdiff_t>(most));
  return cpus;
}

/// The last `wanted` cores of that node; if no node has that many cores, the last ones of all nodes.
Cpus last_cores(const std::vector<Core>& cores, const std::map<int, std::size_t>& weight, std::size_t wanted) {
  Cpus cpus = last_cores_of_best_node(cores, weight, wanted);
  if (cpus.size() >= std::min(wanted, cores.size())) return cpus;
  cpus = first_threads(cores);
  cpus.erase(cpus.begin(), cpus.end() - static_cast<std::ptrdiff_t>(std::min(wanted, cpus.size())));
  return cpus;
}

CorePlan share_one_cpu(int cpu) {
  return {{cpu}, {cpu}, true, fmt::format("one core only ({}): both processes share it and take turns", cpu)};
}

CorePlan plan_unasked(const std::vector<Core>& cores, std::optional<int> analyzer_cores) {
  if (cores.size() == 1) {
    const Cpus& cpus = cores.front().cpus;
    if (cpus.size() == 1) return share_one_cpu(cpus.front());
    return {{cpus[0]}, {cpus[1]}, false, "one physical core: one of its hardware threads for each process"};
  }
  std::map<int, std::size_t> cores_on_node;
  for (const Core& core : cores) ++cores_on_node[core.numa_node];
  const std::size_t wanted = analyzer_cores ? static_cast<std::size_t>(*analyzer_cores)
                                            : std::clamp<std::size_t>(cores.size() / 4, 1, kMostAnalyzerCores);
  CorePlan plan;
  plan.analyzer = last_cores(cores, cores_on_node, std::min(wanted, cores.size() - 1));
  for (int cpu : first_threads(cores)) {
    if (!contains(plan.analyzer, cpu)) plan.producer.push_back(cpu);
  }
  plan.reason = fmt::format("{} physical cores: {} for the producer, {} for the analyzer", cores.size(),
                            plan.producer.size(), plan.analyzer.size());
  return plan;
}

CorePlan plan_analyzer_beside(const Machine& machine, const std::vector<Core>& cores, const Cpus& producer,
                              std::optional<int> analyzer_cores) {
  const std::vector<Core> left = cores_beside(machine, cores, producer, "producer", "analyzer");
  std::map<int, std::size_t> producer_on_node;
  for (const HardwareThread& thread : machine.threads) {
    if (contains(producer, thread.cpu)) ++producer_on_node[thread.numa_node];
  }
  const Cpus analyzer = analyzer_cores ? last_cores(left, producer_on_node, static_cast<std::size_t>(*analyzer_cores))
                                       : last_cores_of_best_node(left, producer_on_node, kMostAnalyzerCores);
  return {producer, analyzer, false, "the producer uses the given cores; the analyzer uses other cores near them"};
}

void refuse_overlap(const Machine& machine, const Cpus& producer, const Cpus& analyzer) {
  Cpus both;
  std::set_intersection(producer.begin(), producer.end(), analyzer.begin(), analyzer.end(), std::back_inserter(both));
  if (both.empty()) return;
  throw usage_error(
      "--producer-cores and --analyzer-cores both name core {}; each core serves only one of them; available: {}",
      to_string(CoreList{both}), to_string(CoreList{available_cpus(machine)}));
}

struct TopologyDeleter {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

/// While an object of this class exists, hwloc finds none of the variables that replace this machine by a stored or
/// synthetic one. A launcher or an earlier test may have left such variables. The environment itself stays unchanged:
/// only the list that is searched is replaced, so that programs started later inherit all variables.
class OwnMachineOnly {
 public:
  OwnMachineOnly() {
    constexpr std::array<std::string_view, 6> kSubstitutes = {
        "HWLOC_XMLFILE=",    "HWLOC_SYNTHETIC=",  "HWLOC_FSROOT=",
        "HWLOC_CPUID_PATH=", "HWLOC_COMPONENTS=", "HWLOC_THISSYSTEM="};
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
      const std::string_view text = *variable;
      const bool substitutes = std::any_of(kSubstitutes.begin(), kSubstitutes.end(),
                                           [text](std::string_view name) { return text.starts_with(name); });
      if (!substitutes) others_.push_back(*variable);
    }
    others_.push_back(nullptr);
    environ = others_.data();
  }
  ~OwnMachineOnly() { environ = all_; }
  OwnMachineOnly(const OwnMachineOnly&) = delete;
  OwnMachineOnly& operator=(const OwnMachineOnly&) = delete;

 private:
  char** all_ = environ;
  std::vector<char*> others_;
};

Topology load_topology(const char* synthetic) {
  const OwnMachineOnly own;
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw system_error("hwloc cannot be initialised ({})", errno_text(errno));
  Topology topology(raw);
  if (synthetic != nullptr && hwloc_topology_set_synthetic(raw, synthetic) != 0) {
    throw usage_error("found the machine '{}', expected a machine in a form that hwloc can read", shortened(synthetic));
  }
  // Cores outside the cpuset are also read, to distinguish "not allowed" from "does not exist".
  if (hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 || hwloc_topology_load(raw) != 0) {
    throw system_error("hwloc cannot read this machine's cores ({}); is /sys mounted?", errno_text(errno));
  }
  return topology;
}

int numa_node_of(hwloc_topology_t topology, int cpu) {
  hwloc_obj_t node = nullptr;
  // Take the first node that covers the CPU: memory-only nodes (NVDIMM as memory) come after the processor's own.
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (hwloc_bitmap_isset(node->cpuset, static_cast<unsigned>(cpu))) return static_cast<int>(node->os_index);
  }
  return 0;
}

int ancestor_index(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t thread, unsigned otherwise) {
  hwloc_obj_t ancestor = hwloc_get_ancestor_obj_by_type(topology, type, thread);
  return static_cast<int>(ancestor != nullptr ? ancestor->logical_index : otherwise);
}

/// The CPUs on which the kernel lets the calling thread run: the thread's affinity, within the cpuset of its cgroup.
std::set<int> allowed_by_kernel() {
  constexpr std::size_t kLargestMask = 1 << 16;
  for (std::size_t bits = CPU_SETSIZE; bits <= kLargestMask; bits *= 2) {
    std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(bits), [](cpu_set_t* mask) { CPU_FREE(mask); });
    const std::size_t bytes = CPU_ALLOC_SIZE(bits);
    if (set == nullptr) throw std::bad_alloc();
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;  // the kernel's own mask is larger than this one
      break;
    }
    std::set<int> cpus;
    for (std::size_t cpu = 0; cpu < bits; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set.get())) cpus.insert(static_cast<int>(cpu));
    }
    return cpus;
  }
  throw system_error("the kernel does not report on which cores this process may run (sched_getaffinity: {})",
                     errno_text(errno));
}

template <class IsAllowed>
Machine machine_in(hwloc_topology_t topology, const IsAllowed& is_allowed) {
  Machine machine;
  hwloc_obj_t thread = nullptr;
  while ((thread = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, thread)) != nullptr) {
    const int cpu = static_cast<int>(thread->os_index);
    machine.threads.push_back({cpu, ancestor_index(topology, HWLOC_OBJ_CORE, thread, thread->logical_index),
                               ancestor_index(topology, HWLOC_OBJ_PACKAGE, thread, 0), numa_node_of(topology, cpu),
                               is_allowed(cpu)});
  }
  std::ranges::sort(machine.threads, {}, &HardwareThread::cpu);

  machine.numa_nodes = std::max(1, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
  machine.l3_caches = std::max(0, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_L3CACHE));
  if (hwloc_obj_t cache = hwloc_get_obj_by_type(topology, HWLOC_OBJ_L3CACHE, 0)) {
    machine.l3_bytes = cache->attr->cache.size;
  }
  if (hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0)) {
    if (const char* model = hwloc_obj_get_info_by_name(package, "CPUModel")) machine.model = model;
  }
  return machine;
}

}  // namespace

Machine read_machine() {
  const Topology topology = load_topology(nullptr);
  const std::set<int> allowed = allowed_by_kernel();
  return machine_in(topology.get(), [&](int cpu) { return allowed.contains(cpu); });
}

Machine synthetic_machine(const std::string& description) {
  return machine_in(load_topology(description.c_str()).get(), [](int) { return true; });
}

MachineCounts count(const Machine& machine) {
  std::set<int> packages;
  std::set<int> cores;
  MachineCounts counts;
  for (const HardwareThread& thread : machine.threads) {
    packages.insert(thread.package);
    cores.insert(thread.core);
    ++counts.threads;
    if (thread.allowed) ++counts.allowed_threads;
  }
  counts.packages = static_cast<int>(packages.size());
  counts.numa_nodes = machine.numa_nodes;
  counts.cores = static_cast<int>(cores.size());
  counts.smt = counts.threads > counts.cores;
  return counts;
}

CorePlan plan_cores(const Machine& machine, const std::optional<CoreList>& producer,
                    const std::optional<CoreList>& analyzer, std::optional<int> analyzer_cores) {
  const std::vector<Core> cores = usable_cores(machine);
  if (cores.empty())
    throw system_error("this process may not run on any core (taskset, cgroup); expected at least one");
  if (producer) require_usable(machine, *producer, "--producer-cores");
  if (analyzer) require_usable(machine, *analyzer, "--analyzer-cores");

  const Cpus available = available_cpus(machine);
  if (available.size() == 1) return share_one_cpu(available.front());
  if (producer && analyzer) {
    refuse_overlap(machine, producer->cpus, analyzer->cpus);
    return {producer->cpus, analyzer->cpus, false, "cores as given"};
  }
  if (producer) return plan_analyzer_beside(machine, cores, producer->cpus, analyzer_cores);
  if (analyzer) {
    return {first_threads(cores_beside(machine, cores, analyzer->cpus, "analyzer", "producer")), analyzer->cpus, false,
            "the analyzer uses the given cores; the producer uses all others"};
  }
  return plan_unasked(cores, analyzer_cores);
}

CorePlan plan_cores(const std::optional<CoreList>& producer, const std::optional<CoreList>& analyzer,
                    std::optional<int> analyzer_cores) {
  return plan_cores(read_machine(), producer, analyzer, analyzer_cores);
}

void pin_openmp_threads(const std::vector<int>& cpus) {
  if (cpus.empty()) throw system_error("found no core to run on; expected at least one");
  // Check this first, because OpenMP ends the process if it cannot start a thread.
  if (cpus.size() > 1) require_threads(cpus.size() - 1, "OpenMP");
  omp_set_dynamic(0);  // otherwise the runtime may start fewer threads than requested
  omp_set_num_threads(static_cast<int>(cpus.size()));
  std::vector<int> errors(cpus.size(), 0);
  std::size_t started = 0;
#pragma omp parallel
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    if (thread == 0) started = static_cast<std::size_t>(omp_get_num_threads());
    if (thread < cpus.size()) errors[thread] = bind_calling_thread(cpus[thread]);
  }
  if (started != cpus.size()) {
    throw system_error("{} threads were requested, but {} started; is OMP_THREAD_LIMIT set to a lower number?",
                       cpus.size(), started);
  }
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    if (errors[i] != 0) {
      throw system_error("cannot run on core {} ({}); choose another", cpus[i], errno_text(errors[i]));
    }
  }
}

}  // namespace ringside
