// SPDX-License-Identifier: BSD-3-Clause
// A run's history as JSON: the content of `/api/status`, of `/api/steps` and of a report. Durations are integer
// nanoseconds, instants are seconds since 1970, ids are 32 hexadecimal digits, and NaN and infinity are null.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "cli/history/run_history.hpp"

namespace ringside {

/// {run, ended, last, totals, hand_off_ns, ring}; before the first run each is null.
nlohmann::ordered_json describe(const RunHistory& history);

/// An array with one object per point.
nlohmann::ordered_json to_json(const std::vector<SeriesPoint>& points);

/// 16 bytes as 32 hexadecimal digits.
std::string hex(const std::string& id);

/// The object as one line of text; bytes that are not UTF-8 are replaced.
std::string dump(const nlohmann::ordered_json& object);

}  // namespace ringside
