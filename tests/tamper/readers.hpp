// SPDX-License-Identifier: BSD-3-Clause
// Runs every reader of pools and journals as a real process on a damaged pool, and checks the result.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/tamper/damage.hpp"

namespace ringside::testing {

struct Findings {
  std::map<std::string, std::uint64_t> cases;  // by kind of damage
  std::uint64_t processes = 0;
  std::map<std::string, std::map<std::string, std::uint64_t>> exits;  // by command and exit code
  std::uint64_t crashes = 0;                                          // commands that were killed or whose child died
  std::uint64_t hangs = 0;
  std::uint64_t undocumented = 0;    // commands with an undocumented exit code
  std::uint64_t iterates_equal = 0;  // exported iterates that are bit-equal to the run's
  std::uint64_t iterates_refused = 0;
  std::uint64_t iterates_wrong = 0;
  std::uint64_t records_equal = 0;  // records that `tail` printed, equal to an undamaged journal's steps
  std::uint64_t records_wrong = 0;
  std::vector<std::string> violations;

  std::uint64_t all_cases() const;
  void add(const Findings& other);
};

/// Two folders: that of the readers' programs, and that for their output.
struct Readers {
  std::string programs;
  std::string folder;
};

/// Runs the readers on the damaged pool. all: runs each reader, and an export of each iteration; otherwise only the
/// fast readers, two exports, and a resumed run in one case of four.
void read_damaged(const Readers& place, const std::string& pool, const Damage& damage, bool all,
                  std::mt19937_64& random, Findings& findings);

}  // namespace ringside::testing
