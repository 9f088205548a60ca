// SPDX-License-Identifier: BSD-3-Clause
// Checks the arguments of ringside_writer_attach and converts them for the hand-off.
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

/// The analyzer that the library starts for this run; null if the run has another analyzer (handoff_environment.hpp
/// describes the order of the choices). Throws Error as the constructor of OwnAnalyzer does.
std::unique_ptr<OwnAnalyzer> own_analyzer_for(const ringside_writer_options& given);

/// The options of the hand-off. Options that the caller leaves at their defaults are taken from the environment, or
/// from the run's own analyzer if there is one. own: null if the caller did not request its own analyzer, and for
/// several ranks, which cannot have one. Throws Error (exit code 2).
HandoffOptions handoff_options_of(const ringside_writer_options& given, const OwnAnalyzer* own);

/// The description of a new run. Throws Error (exit code 2).
RunDescription run_of(const ringside_writer_options& given);

/// The variables that the caller declares; Schema::of checks them. Throws Error (exit code 2).
std::vector<Variable> variables_of(const ringside_variable* variables, std::size_t count);

/// Throws Error (exit code 2).
Schema schema_of(const ringside_variable* variables, std::size_t count);

/// Throws Error (exit code 2).
std::vector<Scalar> scalars_of(const ringside_scalar* scalars, std::size_t count);

}  // namespace ringside::library
