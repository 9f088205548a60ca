// The page of `ringside report`: what is in it, and how figures and assets become one file.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "cli/history/run_history.hpp"

namespace ringside {

/// What the page shows, without what only its caller knows. `history` needs a run.
nlohmann::ordered_json report_of(const RunHistory& history);
/// Of `ringside run --summary`'s object: an account without steps. Throws Error (exit code 2), naming its
/// file, if it is none.
nlohmann::ordered_json report_of_summary(const nlohmann::json& summary, const std::string& name);

/// The finished page. Whatever the figures and names in `report` are, none of it becomes markup or script.
std::string report_page(const nlohmann::ordered_json& report);

}  // namespace ringside
