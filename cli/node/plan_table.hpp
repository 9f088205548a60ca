// SPDX-License-Identifier: BSD-3-Clause
// A plan as a table for the user, and as JSON for programs and for the page.
#pragma once

#include <string>

#include "common/json/json.hpp"
#include "node/plan/plan.hpp"

namespace ringside {

/// Several lines: the planned run, a row for each configuration, the choice, the remarks.
std::string plan_table(const Node& node, const PlanRequest& request, const Plan& plan);

/// One object: node, origin, problem, run, rows (seconds), best, model, remarks.
Json to_json(const Node& node, const PlanRequest& request, const Plan& plan);

}  // namespace ringside
