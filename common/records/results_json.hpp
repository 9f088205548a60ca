// SPDX-License-Identifier: BSD-3-Clause
// Results as JSON: the same keys and the same values in every command, page and summary.
#pragma once

#include <cstddef>
#include <limits>

#include "common/json/json.hpp"
#include "common/records/shown_results.hpp"
#include "common/records/step_results.hpp"

namespace ringside {

/// A number; an i128 beyond 64 bits is a text; null if the value is absent, NaN or infinite.
Json to_json(const StepValue& value);

/// {"x.l2": 1.5, "x.change_l1": null, "solver.rho": 0.25}: the first `at_most` of them.
Json to_json(const StepResults& results, std::size_t at_most = std::numeric_limits<std::size_t>::max());

/// Null if it is not there, NaN or infinite.
Json number_or_null(const std::optional<double>& value);

}  // namespace ringside
