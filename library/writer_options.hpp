// SPDX-License-Identifier: BSD-3-Clause
// What ringside_writer_attach is given, checked, and as the hand-off takes it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "common/handoff/handoff_options.hpp"
#include "common/handoff/run_description.hpp"
#include "common/results/result_description.hpp"
#include "common/schema/schema.hpp"
#include "library/own_analyzer.hpp"
#include "include/ringside.h"

namespace ringside::library {

/// The analyzer that the library starts for this run; null if the run has another one (handoff_environment.hpp has the order).
/// Throws as OwnAnalyzer.
std::unique_ptr<OwnAnalyzer> own_analyzer_for(const ringside_writer_options& given);

/// What the caller leaves at its default comes from the environment, or from its own analyzer if it has one. own: null only where
/// none was asked for, and for several ranks, which cannot have one. Throws Error (exit code 2).
HandoffOptions handoff_options_of(const ringside_writer_options& given, const OwnAnalyzer* own);

/// A new run. Throws Error (exit code 2).
RunDescription run_of(const ringside_writer_options& given);

/// As the caller declares them; Schema::of checks them. Throws Error (exit code 2).
std::vector<Variable> variables_of(const ringside_variable* variables, std::size_t count);

/// Throws Error (exit code 2).
Schema schema_of(const ringside_variable* variables, std::size_t count);

/// Throws Error (exit code 2).
std::vector<Scalar> scalars_of(const ringside_scalar* scalars, std::size_t count);

}  // namespace ringside::library
