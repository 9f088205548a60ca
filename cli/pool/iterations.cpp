// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/iterations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"
#include "common/triggers/pool_freeze.hpp"

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

std::string in_the_archive(const std::string& pool, const Recovery& recovery, const IterationRange& range) {
  try {
    const std::string path = archive_path(pool);
    const RingReader archive = RingReader::open(path, std::chrono::milliseconds(0));
    std::vector<SlotHeader> found;
    for (const KeptSlot& kept : archive.recover().kept) {
      if (range.contains(kept.header.iteration)) found.push_back(kept.header);
    }
    if (found.empty()) return {};
    const bool other_run = std::none_of(recovery.kept.begin(), recovery.kept.end(), [&](const KeptSlot& kept) {
      return kept.header.run_id == found.back().run_id;
    });
    const std::string which = found.size() == 1 ? fmt::format("iteration {}", found.front().iteration)
                                                : fmt::format("{} of them, iterations {} to {}", found.size(),
                                                              found.front().iteration, found.back().iteration);
    return fmt::format("; its archive keeps {}{}: name {} as the pool", which, other_run ? " of another run" : "", path);
  } catch (const Error&) {  // there is none, or none that can be read
    return {};
  }
}

}  // namespace ringside
