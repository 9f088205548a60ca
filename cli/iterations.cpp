#include "cli/iterations.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/error.hpp"

namespace ringside {

std::uint64_t parse_iteration(const std::string& text, const std::string& option, const std::string& accepted) {
  std::uint64_t iteration = 0;
  if (!CLI::detail::lexical_cast(text, iteration)) {
    throw usage_error("{}: found '{}', expected {}", option, text, accepted);
  }
  return iteration;
}

std::string kept_iterations(const Recovery& recovery) {
  return fmt::format("kept are {} to {}", recovery.kept.front().header.iteration,
                     recovery.kept.back().header.iteration);
}

}  // namespace ringside
