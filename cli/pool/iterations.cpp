// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/iterations.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>

#include "common/platform/decimal.hpp"
#include "common/platform/error.hpp"
#include "common/platform/printable.hpp"

namespace ringside {

std::uint64_t parse_iteration(const std::string& text, const std::string& option, const std::string& accepted) {
  // Digits only: a sign, a prefix or a number that is too large could otherwise select another iteration.
  const std::optional<std::uint64_t> iteration = whole_number(text);
  if (!iteration) {
    throw usage_error("{}: found '{}', expected {} (a number is from 0 to {})", option, shortened(text), accepted,
                      std::numeric_limits<std::uint64_t>::max());
  }
  return *iteration;
}

IterationRange parse_range(const std::string& from, const std::string& to) {
  IterationRange range{0, std::numeric_limits<std::uint64_t>::max()};
  if (!from.empty()) range.first = parse_iteration(from, "--from");
  if (!to.empty()) range.last = parse_iteration(to, "--to");
  if (range.first > range.last) {
    throw usage_error("--from {} --to {}: expected a range that does not end before it begins", from, to);
  }
  return range;
}

std::string kept_iterations(const Recovery& recovery) {
  return fmt::format("kept are {} to {}", recovery.kept.front().header.iteration,
                     recovery.kept.back().header.iteration);
}

}  // namespace ringside
