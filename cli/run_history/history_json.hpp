// SPDX-License-Identifier: BSD-3-Clause
// A run's history as JSON: the content of `/api/status`, of `/api/steps` and of a report. Durations are integer
// nanoseconds, instants are seconds since 1970, ids are 32 hexadecimal digits, and NaN and infinity are null.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/run_history/course_series.hpp"
#include "cli/run_history/run_history.hpp"
#include "common/json/json.hpp"
#include "common/text/hex.hpp"

namespace ringside {

/// {run, ended, last, totals, hand_off_ns, ring, shown, marks}; each is null before the first run. shown: the names of
/// the existing results, and of those that show the run's course.
Json describe(const RunHistory& history);

/// An array with one object per point. results: full names; `values` contains these results, in this order. An absent
/// result is null; a value that is not finite is "NaN", "inf" or "-inf".
Json to_json(const std::vector<SeriesPoint>& points, std::span<const std::string> results = {});

/// [{name, points: [[seq, iteration, value], …]}, …] for those of `names` that are results of an analysis. Values are
/// represented as above. Contains only points from `from_seq` on.
Json to_json(const AnalysisSeries& analyses, std::span<const std::string> names, std::uint64_t from_seq);
std::vector<std::string> analysis_names(const AnalysisSeries& analyses);

/// [[iteration, seconds, value], …]; an absent value is null.
Json course_to_json(const std::vector<CoursePoint>& points);

/// The names of the results that have a series: the first kMostPlotted.
std::vector<std::string> plotted_results(const RunView& run);

/// The object as one line of text; replaces bytes that are not UTF-8.
std::string dump(const Json& object);

}  // namespace ringside
