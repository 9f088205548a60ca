// SPDX-License-Identifier: BSD-3-Clause
// The page of `ringside report`: its content, and how figures and assets become one file.
#pragma once

#include <string>

#include "cli/history/run_history.hpp"
#include "common/json/json.hpp"

namespace ringside {

/// The page's data for the run in `history`, which must hold one. The caller adds its own data.
Json report_of(const RunHistory& history);
/// The page's data for a summary of `ringside run --summary`: an account without steps. Throws Error (exit code 2),
/// which names the file `name`, if `summary` is none.
Json report_of_summary(const Json& summary, const std::string& name);

/// Returns the finished page. No figure or name in `report` becomes markup or script.
std::string report_page(const Json& report);

}  // namespace ringside
