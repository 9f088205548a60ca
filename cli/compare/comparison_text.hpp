// SPDX-License-Identifier: BSD-3-Clause
// Prints a comparison for the user: the differences first, then residuals and times side by side, then where the runs
// begin to differ and what could be checked.
#pragma once

#include <string>

#include "cli/compare/comparison.hpp"

namespace ringside {

std::string comparison_text(const Comparison& comparison);

/// "iterations 1 to 92: records equal; 93 to 100: iterates equal bit for bit"; empty if nothing is equal.
std::string equal_text(const PairComparison& pair);

/// "iteration 93: x[17] is 0.1 in A and 0.30000000000000004 in B, 1 ulp; 1 of 2,500 values differs"
std::string difference_text(const Difference& difference, const std::string& first, const std::string& second);

}  // namespace ringside
