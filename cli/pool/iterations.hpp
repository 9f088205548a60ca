// SPDX-License-Identifier: BSD-3-Clause
// Iteration numbers in the options and messages of the commands that read a pool.
#pragma once

#include <cstdint>
#include <string>

#include "common/ring/ring_recovery.hpp"

namespace ringside {

/// Parses `text`. Throws Error (exit code 2), which names `option` and what would be accepted.
std::uint64_t parse_iteration(const std::string& text, const std::string& option,
                              const std::string& accepted = "a number");

/// "kept are 3 to 10", for a message about an iteration that is not kept. Requires at least one kept iterate.
std::string kept_iterations(const Recovery& recovery);

}  // namespace ringside
