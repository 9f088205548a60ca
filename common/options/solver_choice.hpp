// SPDX-License-Identifier: BSD-3-Clause
// The values of `--solver`, and the options that only some of these solvers accept. Help, checks and refusals are made
// from this list. The list is a parameter here, because the solvers are in producer/solver/solver_table.cpp, which this
// folder must not include.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// The criterion of a solver that declares none. Help and messages write a criterion after "the".
inline constexpr std::string_view kChangeCriterion = "L1 change";

struct SolverChoice {
  std::string_view name;                          // the value of --solver
  std::string_view help;                          // what the solver computes, in a few words
  std::string_view criterion = kChangeCriterion;  // what --tolerance bounds
  bool damping = false;                           // whether it accepts --damping
  bool rhs = false;                               // whether it accepts --rhs
  bool ranked = false;  // whether it accepts --matrix-format ranked: it can read and publish its vector in different
                        // orders
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

/// The different criteria that --tolerance may bound.
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

/// The values of `--matrix-format`: the storage formats of the matrix, all of which give the same bits
/// (docs/inside/kernels.md). producer/kernels/row_layout.hpp converts to them.
enum class MatrixFormat {
  kAuto,    // chosen by the computed cost of an iteration and of the conversion (producer/kernels/format_choice.hpp)
  kCsr,     // rows stored as in the matrix
  kBands,   // the rows of bands stored separately, all others as in the matrix
  kPacked,  // the rows of bands stored separately, all others packed
  kRanked   // all rows packed, and the vector ordered by how often its elements are read
};

/// The names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 5> kMatrixFormatNames = {"auto", "csr", "bands", "packed", "ranked"};

inline std::string_view to_string(MatrixFormat format) noexcept {
  return kMatrixFormatNames[static_cast<std::size_t>(format)];
}

}  // namespace ringside
