// SPDX-License-Identifier: BSD-3-Clause
// When each run reached a given residual: by iteration and by time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/compare/compared_run.hpp"

namespace ringside {

/// "1e-3,1e-6" -> 1e-3, 1e-6, in descending order. Throws Error (exit code 2) for anything but positive numbers.
std::vector<double> parse_residuals(const std::vector<std::string>& texts);

/// Powers of ten that the runs reached, at most `most`, evenly chosen; none if no run's course has positive values.
std::vector<double> default_residuals(const std::vector<ComparedRun>& runs, std::size_t most = 8);

/// The first point whose value is at most `residual`; nothing if there is none.
std::optional<CoursePoint> reached(const ComparedRun& run, double residual);

}  // namespace ringside
