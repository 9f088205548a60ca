// SPDX-License-Identifier: BSD-3-Clause
// Chooses the cores on which the two processes run. No other file uses hwloc. Reading the machine is separate from
// planning, so that plans for other machines can be tested.
//
// The plan, when no cores are given: one hardware thread of each physical core is used (siblings share the load ports
// that the kernels saturate). The analyzer gets a quarter of the cores, at least one and at most four (about four
// threads saturate the writes of Optane; more make it slower). The analyzer's cores are the highest-numbered ones of
// one NUMA node (the kernel's own work runs mostly on the lowest-numbered cores). All other cores go to the producer: 2
// cores become 1 + 1, 16 become 12 + 4. If one list is given, it is used unchanged, and the other list is chosen to fit
// it: if the producer's cores are given, the analyzer's cores are on the NUMA node that has most of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/platform/core_list.hpp"

namespace ringside {

struct HardwareThread {
  int cpu = 0;          // the kernel's number of the logical CPU
  int core = 0;         // the physical core, a number that is unique in the machine
  int package = 0;      // the socket
  int numa_node = 0;    // the NUMA node of its memory
  bool allowed = true;  // whether the affinity and the cpuset (taskset, cgroup, container) of the process allow it
};

struct Machine {
  std::vector<HardwareThread> threads;  // by ascending cpu
  std::string model;                    // the processor's name; "" if unknown
  std::uint64_t l3_bytes = 0;           // the size of one last-level cache; 0 if unknown
  int l3_caches = 0;
  int numa_nodes = 1;
};

/// This machine, and the cores that the kernel lets the calling thread use. Call it before pinning anything, in a
/// process without other threads that read the environment. Variables by which hwloc replaces this machine by another
/// (HWLOC_XMLFILE, HWLOC_SYNTHETIC ...) are ignored. Throws `Error` (exit code 3) if hwloc cannot read the machine.
Machine read_machine();

/// Another machine, all of whose cores are allowed. description: "package:2 core:28 pu:2", in hwloc's syntax.
Machine synthetic_machine(const std::string& description);

struct MachineCounts {
  int packages = 0;
  int numa_nodes = 0;
  int cores = 0;
  int threads = 0;
  int allowed_threads = 0;
  bool smt = false;  // whether some core has more than one hardware thread
};
MachineCounts count(const Machine& machine);

struct CorePlan {
  std::vector<int> producer;             // logical CPUs, one thread each
  std::vector<int> analyzer;             // shares no core with `producer`, except in the next case
  bool oversubscribed_one_core = false;  // both processes run on the only logical CPU; users are warned
  std::string reason;                    // one line for the user: why these cores were chosen
};

/// Decides the cores of both processes on `machine` (see the top of this file). Throws `Error`: exit code 3 for a core
/// that does not exist or is not allowed, 2 for lists that overlap or leave no core for the other process.
/// analyzer_cores: the number of the analyzer's cores, which replaces the number from the rule if no list is given for
/// the analyzer; at least 1, and less than the number of all cores.
CorePlan plan_cores(const Machine& machine, const std::optional<CoreList>& producer,
                    const std::optional<CoreList>& analyzer, std::optional<int> analyzer_cores = std::nullopt);

/// Decides the cores of both processes on this machine.
CorePlan plan_cores(const std::optional<CoreList>& producer, const std::optional<CoreList>& analyzer,
                    std::optional<int> analyzer_cores = std::nullopt);

/// Makes OpenMP use cpus.size() threads in this process's parallel regions and binds thread i to cpus[i]; the calling
/// thread becomes thread 0. Call it from the thread that will open the parallel regions; threads that it starts later
/// inherit the binding to cpus[0]. Throws `Error` (exit code 3).
void pin_openmp_threads(const std::vector<int>& cpus);

}  // namespace ringside
