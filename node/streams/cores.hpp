// SPDX-License-Identifier: BSD-3-Clause
// The logical CPUs of measuring threads: first one CPU of each core, then the second hardware threads, as in the
// published measurements.
#pragma once

#include <string>
#include <vector>

#include "common/program/topology.hpp"

namespace ringside {

/// The allowed CPUs, in the order in which threads take them. numa_node: only the CPUs of that node; -1: all.
std::vector<int> cpus_in_order(const Machine& machine, int numa_node = -1);

/// The first `threads` CPUs of `in_order`. Throws Error (exit code 3) that begins with `option` if there are fewer.
std::vector<int> cpus_for(const std::vector<int>& in_order, int threads, const std::string& option);

/// 1, 2, 3, 4, 6, 8, 12, 16, 24 ... and `most` itself.
std::vector<int> usual_thread_counts(int most);

/// NUMA nodes that have memory, ascending; only node 0 if the kernel does not list them. `root` is put before /sys.
std::vector<int> numa_nodes_with_memory(const std::string& root = "");

/// The bytes of all last-level caches together; 0 where unknown.
std::uint64_t last_level_cache_bytes(const Machine& machine) noexcept;

}  // namespace ringside
