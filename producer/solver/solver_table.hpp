// SPDX-License-Identifier: BSD-3-Clause
// The table of solvers. The help, manual pages, completions and refusals of every command that takes `--solver` are
// generated from it, and the solvers are made from it. To add a solver, add a header and a source with a SolverEntry,
// and a line in this table.
#pragma once

#include <span>
#include <string_view>

#include "producer/solver/solver_entry.hpp"

namespace ringside {

/// All solvers, in the order in which help and messages list them.
std::span<const SolverEntry* const> solvers() noexcept;

/// The solvers, as the declaration of the options needs them.
SolverChoices solver_choices();

/// Throws Error (exit code 2) for an unknown name.
const SolverEntry& solver_named(std::string_view name);

/// Throws Error (exit code 2) if `options` hold an option that `solver` does not take.
void refuse_options_not_taken(const SolverChoice& solver, const SolveOptions& options);

}  // namespace ringside
