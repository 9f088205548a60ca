// Which cores the two processes run on. The only user of hwloc. Reading the machine is separate from planning, so that
// the plan can be tested on machines one does not own.
//
// The plan, when no cores are given: one hardware thread of each physical core (siblings share the load ports the
// kernels saturate), a quarter of the cores for the analyzer but at least one and at most four (about four threads
// saturate the writes of Optane; more make it slower), all of the analyzer's on one NUMA node, the highest-numbered
// cores there (the kernel's own work gathers on the lowest), and all others for the producer: 2 cores become 1 + 1,
// 16 become 12 + 4. A list that is given is taken as it is, and the other is chosen around it: an analyzer beside a
// given producer goes to the NUMA node where most of the producer runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// Logical CPUs by the kernel's numbers, ascending, each once.
struct CoreList {
  std::vector<int> cpus;
  bool operator==(const CoreList&) const = default;
};

/// Reads "0-3,8,10-11". Errors are `Error` (exit code 2) naming `option` and the offending piece.
CoreList parse_core_list(std::string_view text, std::string_view option);

/// The shortest text that `parse_core_list` reads as the same list; "none" for an empty one.
std::string to_string(const CoreList& list);

struct HardwareThread {
  int cpu = 0;          // the kernel's number
  int core = 0;         // physical core, unique in the machine
  int package = 0;      // socket
  int numa_node = 0;    // the node of its memory
  bool allowed = true;  // by the affinity and the cpuset (taskset, cgroup, container) of the process
};

struct Machine {
  std::vector<HardwareThread> threads;  // by ascending cpu
  std::string model;                    // processor, "" where the machine does not say
  std::uint64_t l3_bytes = 0;           // one last-level cache, 0 where unknown
  int l3_caches = 0;
  int numa_nodes = 1;
};

/// This machine, and what the calling thread may use of it: call it before pinning anything. Throws `Error` (exit
/// code 3) where hwloc cannot read it. The environment variable HWLOC_SYNTHETIC ("package:2 core:28 pu:2") puts another
/// machine in its place.
Machine read_machine();

struct MachineCounts {
  int packages = 0;
  int numa_nodes = 0;
  int cores = 0;
  int threads = 0;
  int allowed_threads = 0;
  bool smt = false;  // some core has more than one hardware thread
};
MachineCounts count(const Machine& machine);

struct CorePlan {
  std::vector<int> producer;             // logical CPUs, one thread each
  std::vector<int> analyzer;             // shares none with `producer`, unless:
  bool oversubscribed_one_core = false;  // there is but one logical CPU and both run on it: worth a warning
  std::string reason;                    // one line for people: why these
};

/// Decides the cores of both processes on `machine` (see the top of this file). Throws `Error`: exit code 3 for a core
/// that does not exist or is not allowed, 2 for lists that overlap or leave the other process nothing.
CorePlan plan_cores(const Machine& machine, const std::optional<CoreList>& producer,
                    const std::optional<CoreList>& analyzer);

/// The same on this machine.
CorePlan plan_cores(const std::optional<CoreList>& producer, const std::optional<CoreList>& analyzer);

/// Makes OpenMP use cpus.size() threads in this process's parallel regions and binds thread i to cpus[i]; the calling
/// thread becomes thread 0. Call it from the thread that will open the parallel regions; threads that one starts later
/// inherit cpus[0]. Throws `Error` (exit code 3).
void pin_openmp_threads(const std::vector<int>& cpus);

}  // namespace ringside
