// SPDX-License-Identifier: BSD-3-Clause
// Two runs side by side, iteration by iteration: where they begin to differ, and which range could be checked by what.
// An iterate that both pools keep is compared bit by bit; of all other iterations that both have recorded, the results
// by name are.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/compare/compared_run.hpp"
#include "cli/compare/iterate_comparison.hpp"

namespace ringside {

/// A result that two records of one iteration have with different values.
struct DifferingResult {
  std::string name;
  std::string first;
  std::string second;
  std::optional<std::uint64_t> ulps;  // of two finite doubles
};

/// What differs at one iteration.
struct Difference {
  enum class Kind { kIterate, kRecord };
  Kind kind = Kind::kRecord;
  std::uint64_t iteration = 0;
  FirstDifference value;                 // where kIterate
  std::vector<DifferingResult> results;  // where kRecord: all that differ
};

/// Consecutive iterations of those that both runs have, which were checked in one way and are equal.
struct EqualRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t steps = 0;
  bool iterates = false;  // by the iterates; else by the records
};

struct PairComparison {
  std::vector<EqualRange> equal;             // up to the first difference
  std::optional<Difference> first;           // the earliest iteration at which anything differs
  std::optional<Difference> first_iterate;   // the earliest one at which both keep the iterate, and it differs
  std::optional<Difference> first_record;
  std::uint64_t common = 0;  // iterations that both runs have
  std::uint64_t only_first = 0;
  std::uint64_t only_second = 0;
  std::uint64_t records_differing = 0;
  std::uint64_t iterates_compared = 0;
  std::uint64_t iterates_differing = 0;
  std::vector<std::uint64_t> overwritten;    // iterations whose iterate was overwritten meanwhile
  std::vector<std::uint64_t> damaged_first;  // iterations whose iterate does not verify
  std::vector<std::uint64_t> damaged_second;
  bool same_variables = true;         // as far as the sources of both say
  std::string iterates_not_compared;  // why none was: one clause; empty: some were
  std::string records_not_compared;   // why none was: one clause; empty: some were

  bool any_damage() const noexcept { return !damaged_first.empty() || !damaged_second.empty(); }
  /// Whether something was compared, nothing differs, and no iterate that both kept was left out.
  bool are_equal() const noexcept {
    return !equal.empty() && !first && same_variables && overwritten.empty() && !any_damage();
  }
};

/// ignored: full names of results that are not compared, beside the measurements of libringside_mpi.
PairComparison compare_pair(const ComparedRun& first, const ComparedRun& second, const std::set<std::string>& ignored = {});

}  // namespace ringside
