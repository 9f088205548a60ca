// SPDX-License-Identifier: BSD-3-Clause
// Everything that `ringside compare` found, as JSON: the output of --json and the source of the page.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/compare/compared_run.hpp"
#include "cli/compare/pair_comparison.hpp"
#include "cli/compare/run_facts.hpp"
#include "common/json/json.hpp"

namespace ringside {

struct Comparison {
  std::vector<ComparedRun> runs;
  FactComparison facts;
  std::vector<double> residuals;
  std::vector<PairComparison> pairs;  // the first run compared with each of the other runs

  /// Whether all runs with a known problem solve the same problem; empty if fewer than two problems are known.
  std::optional<bool> same_problem() const;
  bool any_damage() const;
  /// Whether each pair could be compared and none differs.
  bool are_equal() const;
};

/// "1e-3,1e-6" -> 1e-3, 1e-6, in descending order. Throws Error (exit code 2) if a text contains anything other than
/// positive numbers.
std::vector<double> parse_residuals(const std::vector<std::string>& texts);

/// The first point whose value is at most `residual`; empty if there is none.
std::optional<CoursePoint> reached(const ComparedRun& run, double residual);

/// residuals: the residuals that the user requested; empty: powers of ten. ignored: as in compare_pair.
Comparison compare(std::vector<ComparedRun> runs, std::vector<double> residuals, const std::set<std::string>& ignored);

/// The name of a run in tables: "A", "B" ...
std::string letter(std::size_t run);

Json to_json(const Comparison& comparison);

}  // namespace ringside
