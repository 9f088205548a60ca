// SPDX-License-Identifier: BSD-3-Clause
// Compares two runs iteration by iteration: finds where they begin to differ, and what could be checked in which range
// of iterations. An iterate that both pools keep is compared bit by bit. For every other iteration that both runs have
// recorded, results of the same name are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/compare/compared_run.hpp"
#include "cli/compare/iterate_comparison.hpp"

namespace ringside {

/// A result with different values in two records of one iteration.
struct DifferingResult {
  std::string name;
  std::string first;
  std::string second;
  std::optional<std::uint64_t> ulps;  // for two finite doubles
};

/// The differences at one iteration.
struct Difference {
  enum class Kind { kIterate, kRecord };
  Kind kind = Kind::kRecord;
  std::uint64_t iteration = 0;
  FirstDifference value;                 // if kIterate
  std::vector<DifferingResult> results;  // if kRecord: all that differ
};

/// Consecutive iterations of both runs that were checked in the same way and are equal.
struct EqualRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t steps = 0;
  bool iterates = false;  // true: the iterates were compared; false: the records
};

struct PairComparison {
  std::vector<EqualRange> equal;             // up to the first difference
  std::optional<Difference> first;           // the earliest iteration with any difference
  std::optional<Difference> first_iterate;   // the earliest iteration whose iterates, kept by both, differ
  std::optional<Difference> first_record;
  std::uint64_t common = 0;  // iterations that both runs have
  std::uint64_t only_first = 0;
  std::uint64_t only_second = 0;
  std::uint64_t records_differing = 0;
  std::uint64_t iterates_compared = 0;
  std::uint64_t iterates_differing = 0;
  std::vector<std::uint64_t> overwritten;    // iterations whose iterate was overwritten during the comparison
  std::vector<std::uint64_t> damaged_first;  // iterations whose iterate in the first run does not match its hashes
  std::vector<std::uint64_t> damaged_second;
  bool same_variables = true;         // whether the variables are the same, as far as both sources describe them
  std::string iterates_not_compared;  // why no iterate was compared, in one clause; empty: some were compared
  std::string records_not_compared;   // why no record was compared, in one clause; empty: some were compared

  bool any_damage() const noexcept { return !damaged_first.empty() || !damaged_second.empty(); }
  /// Whether something was compared, nothing differs, and every iterate that both pools kept was compared.
  bool are_equal() const noexcept {
    return !equal.empty() && !first && same_variables && overwritten.empty() && !any_damage();
  }
};

/// ignored: full names of results to skip, in addition to the measurements of libringside_mpi.
PairComparison compare_pair(const ComparedRun& first, const ComparedRun& second, const std::set<std::string>& ignored = {});

}  // namespace ringside
