// SPDX-License-Identifier: BSD-3-Clause
// Reductions as JSON, with the same keys everywhere: in the summary and in the output of the commands.
#pragma once

#include <cstdint>

#include "common/json/json.hpp"
#include "common/reductions/reduction.hpp"

namespace ringside {

/// The summary's `last` object: {iteration, mean, min, max, l1, l2, linf}. Values: Reductions, or another type with
/// these members.
template <class Values>
Json to_json(const Values& r, std::uint64_t iteration) {
  return {{"iteration", iteration}, {"mean", r.mean}, {"min", r.min}, {"max", r.max}, {"l1", r.l1}, {"l2", r.l2},
          {"linf", r.linf}};
}

/// Everything: the above plus rows, sum, change norms (null without a predecessor), non_finite, top entries,
/// histogram.
Json to_json_in_full(const Reductions& reductions, std::uint64_t iteration);

}  // namespace ringside
