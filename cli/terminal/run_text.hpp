// SPDX-License-Identifier: BSD-3-Clause
// Texts for the user about a run and its state: units, names, the text of `ringside tail --once`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/json/json.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// The number of a solver's scalars that are shown beside the run's course.
inline constexpr std::size_t kMostShownScalars = 4;

/// "1.23 ms": a duration in the unit in which it has one to three digits before the point.
std::string duration_text(std::int64_t ns);

/// The first four bytes of an id, as hexadecimal digits.
std::string id_text(const std::string& id);

/// "solver.rho" -> "rho", which fits a column.
std::string column_name(const std::string& full_name);

/// "heat of rod (c=0.25)": the problem in printable characters, without the parts that a program left empty.
std::string problem_text(std::string_view solver, std::string_view problem, std::string_view parameters);

/// "90,000 rows", "u f64[300,300] K, p f64[90000] state".
std::string size_text(const wire::RunStarted& run);

/// "LINE: NOTE", or the line alone.
std::string with_note(const std::string& line, const std::string& note);

double share_of(std::int64_t part_ns, std::int64_t whole_ns);

/// "5.61 ms a step (5.40 ms to 5.90 ms), of which producer idle 0.0 %, analyzer idle 18.1 %".
std::string planned_text(const wire::PlannedStep& planned);

/// Whether the plug-in has ended an analyzer of this run, or is disabled.
bool has_failed(const wire::PlugIn& plug_in) noexcept;

/// For a plug-in that has failed: "l3 has ended the analyzer 2 times and is left out: its results are absent".
std::string plug_in_text(const wire::PlugIn& plug_in);

/// The text that `ringside tail --once` prints.
std::string status_text(const wire::Status& status);

/// For an entry of the summary's key `analyses`: "analysis energy (my.py): 95 steps, 5 skipped, last 1.23".
std::string analysis_text(const Json& analysis);

}  // namespace ringside
