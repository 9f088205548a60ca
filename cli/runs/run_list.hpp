// SPDX-License-Identifier: BSD-3-Clause
// A run of a list as JSON and as a line of a table: `tail --runs` and the page of runs show the same figures.
#pragma once

#include <string>
#include <vector>

#include "cli/runs/run_folder.hpp"
#include "common/json/json.hpp"

namespace ringside {

Json to_json(const ListedRun& listed);

/// The table: a head, and a line for each run.
std::string runs_table(const std::vector<ListedRun>& runs);

}  // namespace ringside
