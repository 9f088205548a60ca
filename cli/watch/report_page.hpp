// SPDX-License-Identifier: BSD-3-Clause
// The page of `ringside report`: its content, and the function that joins figures and assets into one file.
#pragma once

#include <string>

#include "cli/run_history/run_history.hpp"
#include "common/json/json.hpp"

namespace ringside {

/// The page's data for the run in `history`, which must contain one. The caller adds further data.
Json report_of(const RunHistory& history);
/// The page's data for a summary of `ringside run --summary`: it contains the account, but no steps. Throws Error (exit
/// code 2) with the file's `name` if `summary` has another form.
Json report_of_summary(const Json& summary, const std::string& name);

/// Returns the finished page. Figures and names in `report` never become markup or script.
std::string report_page(const Json& report);

}  // namespace ringside
