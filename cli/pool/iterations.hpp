// Iterations as the commands that read a pool take and name them.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/ring/ring_recovery.hpp"

namespace ringside {

/// The number `text` is. Throws Error (exit code 2) naming `option` and what it would accept.
std::uint64_t parse_iteration(const std::string& text, const std::string& option,
                              const std::string& accepted = "a number");

/// "kept are 3 to 10", for those who asked for another; some iterate must be.
std::string kept_iterations(const Recovery& recovery);

}  // namespace ringside
