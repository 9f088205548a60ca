// `ringside doctor [POOL|DIR] [--json]`: what this node offers a run, what stands in its way, and what to change.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/doctor/core_probes.hpp"
#include "cli/doctor/finding.hpp"
#include "cli/doctor/node_probes.hpp"
#include "cli/doctor/ownership_probes.hpp"
#include "cli/doctor/page_probes.hpp"
#include "cli/doctor/pmem_probes.hpp"
#include "cli/doctor/storage_probes.hpp"

namespace ringside {

/// Every finding about this node and about `pool_or_dir`, the place a pool is kept; `root` as in
/// cli/doctor/finding.hpp. Where there is no persistent memory, nothing is said of its parts.
std::vector<Finding> examine_node(const std::string& pool_or_dir, const std::string& root = "");

/// For people: a line a finding, the advice below it, wrapped to `columns` (0: not at all). Commands stay in one piece.
std::string doctor_table(const std::vector<Finding>& findings, std::size_t columns = 0);

/// For programs: {"verdict": "ok|note|problem", "findings": {topic: {"verdict", "found", "advice", facts...}}}.
std::string doctor_json(const std::vector<Finding>& findings);

/// Prints one of the two to standard output. Returns the exit code: 0, or 3 if something stands in the way of a run.
int doctor_command(int argc, const char* const* argv);

}  // namespace ringside
