// SPDX-License-Identifier: BSD-3-Clause
// A run's history as JSON: the content of `/api/status`, of `/api/steps` and of a report. Durations are integer
// nanoseconds, instants are seconds since 1970, ids are 32 hexadecimal digits, and NaN and infinity are null.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/history/course_series.hpp"
#include "cli/history/run_history.hpp"

namespace ringside {

/// {run, ended, last, totals, hand_off_ns, ring, shown}; before the first run each is null. shown: which results there
/// are, and which of them show the run's course.
nlohmann::ordered_json describe(const RunHistory& history);

/// An array with one object per point. results: full names; `values` are those of these results, in this order.
nlohmann::ordered_json to_json(const std::vector<SeriesPoint>& points, std::span<const std::string> results = {});

/// [[iteration, seconds, value], …]; null where there is no value.
nlohmann::ordered_json course_to_json(const std::vector<CoursePoint>& points);

/// The names of the results that have a series: the first kMostPlotted.
std::vector<std::string> plotted_results(const RunView& run);

/// 16 bytes as 32 hexadecimal digits.
std::string hex(const std::string& id);

/// The object as one line of text; bytes that are not UTF-8 are replaced.
std::string dump(const nlohmann::ordered_json& object);

}  // namespace ringside
