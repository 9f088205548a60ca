// SPDX-License-Identifier: BSD-3-Clause
// The values of `--solver`, and the options that only some of them accept. Help, checks and refusals are made from this
// list. The list is a parameter here, because producer/solver/solver_table.cpp, which has the solvers, is above this
// folder.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// The criterion of a solver that declares no other, as "the ..." in help and messages.
inline constexpr std::string_view kChangeCriterion = "L1 change";

struct SolverChoice {
  std::string_view name;                          // the value of --solver
  std::string_view help;                          // what it computes, in a few words
  std::string_view criterion = kChangeCriterion;  // what --tolerance bounds
  bool damping = false;                           // takes --damping
  bool rhs = false;                               // takes --rhs
  bool ranked = false;  // takes --matrix-format ranked: it can read its vector in another order than it publishes it
};

using SolverChoices = std::vector<SolverChoice>;

/// The names of the solvers for which `chosen` is true.
template <class Chosen>
std::vector<std::string> names_where(const SolverChoices& solvers, const Chosen& chosen) {
  std::vector<std::string> names;
  for (const SolverChoice& solver : solvers) {
    if (chosen(solver)) names.emplace_back(solver.name);
  }
  return names;
}

/// What --tolerance bounds, each text once.
inline std::vector<std::string_view> criteria_of(const SolverChoices& solvers) {
  std::vector<std::string_view> criteria;
  for (const SolverChoice& solver : solvers) {
    if (std::find(criteria.begin(), criteria.end(), solver.criterion) == criteria.end()) {
      criteria.push_back(solver.criterion);
    }
  }
  return criteria;
}

inline std::vector<std::string> names_of(const SolverChoices& solvers) {
  return names_where(solvers, [](const SolverChoice&) { return true; });
}

}  // namespace ringside
