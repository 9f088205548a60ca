// SPDX-License-Identifier: BSD-3-Clause
// What the tests of options share: words of a command line, and two solvers that take different options.
#pragma once

#include <string>
#include <vector>

#include "common/options/solver_choice.hpp"

namespace ringside::testing {

using Words = std::vector<std::string>;

inline const SolverChoices kSolvers = {{.name = "pagerank", .help = "ranks", .damping = true},
                                       {.name = "jacobi", .help = "solutions", .rhs = true}};

}  // namespace ringside::testing
