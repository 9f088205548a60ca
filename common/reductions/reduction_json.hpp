// SPDX-License-Identifier: BSD-3-Clause
// Reductions as JSON, with the same keys everywhere: in the summary and in the output of the commands.
#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

#include "common/reductions/reduction.hpp"

namespace ringside {

/// The summary's `last` object: {iteration, mean, min, max, l1, l2, linf}.
nlohmann::json to_json(const Reductions& reductions, std::uint64_t iteration);

/// Everything: the above plus rows, sum, change norms (null without a predecessor), non_finite, top entries,
/// histogram.
nlohmann::json to_json_in_full(const Reductions& reductions, std::uint64_t iteration);

}  // namespace ringside
