// SPDX-License-Identifier: BSD-3-Clause
// The probes of `ringside doctor`; each answers one question with one finding. A probe reads only the files that its
// arguments name, so that a test can supply the files of any node: `root` is the prefix of /sys, /proc and /etc ("" on
// a real node). `place` is a pool file, a folder, or the path of a file that does not exist yet in an existing folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/pool/pool_device.hpp"
#include "common/program/topology.hpp"

namespace ringside {

enum class Verdict {
  kOk,
  kNote,    // a run works, but the user should read the finding
  kProblem  // a run would fail, or could not give its guarantees
};

/// One line of the report. `facts` are the values behind the verdict, for programs; their keys name the units.
struct Finding {
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;
  std::string topic;  // "cores", "dax", ...: unique in a report
  Verdict verdict = Verdict::kOk;
  std::string found;   // for the user
  std::string advice;  // what to change, with the commands between backticks; "" if no change is needed
  std::vector<std::pair<std::string, Value>> facts;
};

inline constexpr double kGigabyte = 1e9;

/// The finding of a probe whose file cannot be read.
inline Finding unknown(const std::string& topic, const std::string& where) {
  return {topic, Verdict::kNote, "n/a: " + where + " cannot be read", "", {}};
}

// node_probes.cpp: the node's properties other than storage.

Finding probe_caches(const Machine& machine);
Finding probe_instructions();
Finding probe_memory(const std::string& root);
Finding probe_limits(const std::string& root);
Finding probe_clock(const std::string& root);
Finding probe_frequency(const std::string& root);
Finding probe_kernel(const std::string& root);
Finding probe_pmdk();

// core_probes.cpp: the cores, and their distance to the memory that holds a pool.

Finding probe_cores(const Machine& machine);

/// Whether the cores that a run would give its analyzer are on the NUMA node of the pool's device. A store into
/// another node's persistent memory takes several times as long.
Finding probe_numa(const Machine& machine, const PoolDevice& device, const std::string& root);

// page_probes.cpp: huge pages, for memory and for a pool on DAX.

Finding probe_huge_pages(const std::string& root);

/// Whether DAX can map the pool in pages of 2 MiB. device.mount must be set, and device.pmem must be in fsdax mode.
Finding probe_dax_pages(const PoolDevice& device);

// storage_probes.cpp: free space, and whether stores persist in place. A probe creates at most one unnamed file.

Finding probe_space(const std::string& place);
Finding probe_dax(const std::string& place, const std::string& root = "");

// memory_probes.cpp: software Memory Mode (docs/inside/memory_mode.md): can a folder hold a matrix larger than DRAM?

/// The result of starting an arena.
struct MemoryModeFacts {
  std::string folder{};
  std::string refusal{};  // the library's error message; empty: the arena started
  bool moves = false;     // the kernel moves pages instead of copying them
  bool mapped = false;    // far memory is mapped: tmpfs or DAX
  bool tmpfs = false;
  std::string release{};  // the kernel's release, from /proc/sys/kernel/osrelease
};

Finding memory_mode_finding(const MemoryModeFacts& facts);

/// Starts an arena in the folder of `place` (a pool or a folder), and removes it. No file remains.
Finding probe_memory_mode(const std::string& place);

// pmem_probes.cpp: persistent memory through the kernel's nd bus: regions, namespaces and DIMMs.

/// Whether the node has persistent memory.
bool has_pmem(const std::string& root);

Finding probe_pmem(const std::string& root);

/// The persistence domain of the pool's region: the point that a store must reach to survive a power loss. Requires
/// device.pmem.
Finding probe_persistence(const PoolDevice& device, const std::string& root);

/// Sectors that the medium lost, in all regions and in the pool's own device.
Finding probe_bad_blocks(const PoolDevice& device, const std::string& root);

/// The reports of the DIMMs: shutdowns that did not save all data, and failures such as a missing energy store.
Finding probe_dimms(const std::string& root);

// ownership_probes.cpp: owners of a pool and its folder, the process that uses the pool now, and the requirements of
// the services.

/// Whether the effective user can keep a pool at `place`, and whether no other user can read or replace the pool.
Finding probe_ownership(const std::string& place);

/// Whether a process has the pool at `place` open as its owner.
Finding probe_pool_owner(const std::string& place, const std::string& root);

/// The system user of the services, and the owner and mode of their state folder.
Finding probe_service(const std::string& root);

}  // namespace ringside
