// SPDX-License-Identifier: BSD-3-Clause
// The results of steps that were recorded before there were results by name: the reductions of x and two residuals, by
// the names that they have today.
#pragma once

#include <optional>

#include "common/records/step_results.hpp"
#include "common/reductions/reduction.hpp"

namespace ringside {

/// What such a step has: the reductions of x, and the residuals.
const SharedLayout& unnamed_results();

/// reductions: nothing if the record has none. rebuilt: the record was made from the ring.
StepResults older_results(const std::optional<Reductions>& reductions, bool rebuilt, double residual_l1,
                          double residual_linf);

}  // namespace ringside
