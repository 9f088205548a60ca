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

/// The iterations between --from and --to.
struct IterationRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool contains(std::uint64_t iteration) const noexcept { return iteration >= first && iteration <= last; }
};

/// from, to: what these options say; empty: no bound. Throws Error (exit code 2).
IterationRange parse_range(const std::string& from, const std::string& to);

/// "kept are 3 to 10", for a message about an iteration that is not kept. Requires at least one kept iterate.
std::string kept_iterations(const Recovery& recovery);

/// For the same message: "; its archive keeps iteration 14: name PATH as the pool" if the archive to which triggers
/// kept steps has some of the range, else "".
std::string in_the_archive(const std::string& pool, const Recovery& recovery, const IterationRange& range);

}  // namespace ringside
