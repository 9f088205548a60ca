#include "cli/iterations.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "common/error.hpp"

namespace ringside {

std::uint64_t parse_iteration(const std::string& text, const std::string& option, const std::string& accepted) {
  // Digits and nothing else: a sign, a prefix or a number too large would become another iteration's.
  std::uint64_t iteration = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, iteration);
  if (error != std::errc() || stopped != end) throw usage_error("{}: found '{}', expected {}", option, text, accepted);
  return iteration;
}

std::string kept_iterations(const Recovery& recovery) {
  return fmt::format("kept are {} to {}", recovery.kept.front().header.iteration,
                     recovery.kept.back().header.iteration);
}

}  // namespace ringside
