// SPDX-License-Identifier: BSD-3-Clause
// The values of `--solver`, and which of them take the options that not every solver has. Help, checks and refusals are
// made from this list. producer/solver/solver_table.cpp has the solvers themselves, above this folder: the list is
// therefore a parameter here.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// The criterion of a solver that has no better one, as "the ..." in help and messages.
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

/// Their names, of those for which `chosen` is true.
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
