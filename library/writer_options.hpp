// SPDX-License-Identifier: BSD-3-Clause
// What ringside_writer_attach is given, checked, and as the hand-off takes it.
#pragma once

#include <cstddef>
#include <vector>

#include "common/handoff/handoff_options.hpp"
#include "common/handoff/run_description.hpp"
#include "common/results/result_description.hpp"
#include "common/schema/schema.hpp"
#include "library/ringside.h"

namespace ringside::library {

/// What the caller leaves at its default comes from the environment. Throws Error (exit code 2).
HandoffOptions handoff_options_of(const ringside_writer_options& given);

/// A new run. Throws Error (exit code 2).
RunDescription run_of(const ringside_writer_options& given);

/// As the caller declares them; Schema::of checks them. Throws Error (exit code 2).
std::vector<Variable> variables_of(const ringside_variable* variables, std::size_t count);

/// Throws Error (exit code 2).
Schema schema_of(const ringside_variable* variables, std::size_t count);

/// Throws Error (exit code 2).
std::vector<Scalar> scalars_of(const ringside_scalar* scalars, std::size_t count);

}  // namespace ringside::library
