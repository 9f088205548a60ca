// SPDX-License-Identifier: BSD-3-Clause
// Makes descriptions of results from the declaration of a reduction, ringside_reduction (include/ringside_reduction.h).
// Both the table of our own reductions (common/reductions/kernels/reduction_table.hpp) and the plug-ins of users
// (common/reductions/plug_ins) use these functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/results/result_description.hpp"
#include "include/ringside_reduction.h"

namespace ringside {

/// The classes of a declaration, as bits of DTypeClass; real and complex if the declaration states none.
std::uint16_t classes_of(const ringside_reduction& declared) noexcept;

/// The name of a result: REDUCTION or REDUCTION.NAME, of any length.
std::string name_of(const std::string& reduction, const ringside_reduction_result& result);
std::string unit_of(const ringside_reduction_result& result);

/// Describes each of the `declared.result_count` results. A description has the classes of the result, or the classes
/// of the declaration if the result states none. name: the name of the reduction.
std::vector<ResultDescription> describe(const std::string& name, const ringside_reduction& declared,
                                        const ringside_reduction_result* results);

}  // namespace ringside
