// A run's history as JSON: what `/api/status` and `/api/steps` answer, and what a report holds. Durations are integer
// nanoseconds, instants seconds since 1970; ids are 32 hexadecimal digits; NaN and infinity are null.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "cli/history/run_history.hpp"

namespace ringside {

/// {run, ended, last, totals, hand_off_ns, ring}; before the first run each is null.
nlohmann::ordered_json describe(const RunHistory& history);

/// One object a point.
nlohmann::ordered_json to_json(const std::vector<SeriesPoint>& points);

/// 16 bytes as 32 hexadecimal digits.
std::string hex(const std::string& id);

/// One line of text; bytes that are no UTF-8 are replaced.
std::string dump(const nlohmann::ordered_json& object);

}  // namespace ringside
