// SPDX-License-Identifier: BSD-3-Clause
// The text of a comparison for the user: first the facts that differ, then residuals and times side by side, then where
// the runs begin to differ and what could be checked.
#pragma once

#include <string>

#include "cli/compare/comparison.hpp"

namespace ringside {

std::string comparison_text(const Comparison& comparison);

}  // namespace ringside
