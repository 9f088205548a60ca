// SPDX-License-Identifier: BSD-3-Clause
// A plan as a table for the user, and as JSON for programs and for the page.
#pragma once

#include <string>
#include <string_view>

#include "common/json/json.hpp"
#include "node/plan/plan.hpp"

namespace ringside {

/// Several lines: the planned run, a row for each configuration, the choice, the remarks.
std::string plan_table(const Node& node, const PlanRequest& request, const Plan& plan);

/// The heading of the rows, and the rows, of which the best one has a star. time: the heading of the times, "total".
/// with_expected: whether to show the expected times, too.
std::string rows_table(const Plan& plan, std::string_view time, bool with_expected);

/// The rows as an array of objects.
Json rows_json(const Plan& plan);

/// "40.86 s", "5.71 ms": four digits.
std::string seconds_text(double seconds);

/// One object: node, origin, problem, run, rows (seconds), best, model, remarks.
Json to_json(const Node& node, const PlanRequest& request, const Plan& plan);

}  // namespace ringside
