// SPDX-License-Identifier: BSD-3-Clause
// `ringside doctor [POOL|DIR] [--json]`: reports what this node offers for a run, what hinders a run, and what to
// change.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/doctor/probes.hpp"

namespace ringside {

/// Returns all findings about this node and about `pool_or_dir`, the place of a pool. root: as in
/// cli/doctor/probes.hpp. If the node or the pool has no persistent memory, findings that are only about persistent
/// memory are left out.
std::vector<Finding> examine_node(const std::string& pool_or_dir, const std::string& root = "");

/// The report for the user: one line per finding, and its advice below it, wrapped at `columns` (0: no wrapping).
/// Commands are never wrapped.
std::string doctor_table(const std::vector<Finding>& findings, std::size_t columns = 0);

/// The report for programs: {"version", "verdict": "ok|note|problem", "findings": {topic: {"verdict", "found",
/// "advice", facts...}}}.
std::string doctor_json(const std::vector<Finding>& findings);

}  // namespace ringside
