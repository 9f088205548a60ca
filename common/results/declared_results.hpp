// SPDX-License-Identifier: BSD-3-Clause
// The one declaration of a reduction, ringside_reduction (include/ringside_reduction.h), and the descriptions of results
// that follow from it: for the table of our own reductions (common/reductions/kernels/reduction_table.hpp) and for those
// that users load (common/reductions/plug_ins).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/results/result_description.hpp"
#include "include/ringside_reduction.h"

namespace ringside {

/// The classes that a declaration means, as bits of DTypeClass.
std::uint16_t classes_of(const ringside_reduction& declared) noexcept;

/// REDUCTION or REDUCTION.NAME, of any length.
std::string name_of(const std::string& reduction, const ringside_reduction_result& result);
std::string unit_of(const ringside_reduction_result& result);

/// A description for each of the results, which are `declared.result_count`, for fields of the classes that the
/// result names, or else the declaration. name: of the reduction.
std::vector<ResultDescription> describe(const std::string& name, const ringside_reduction& declared,
                                        const ringside_reduction_result* results);

}  // namespace ringside
