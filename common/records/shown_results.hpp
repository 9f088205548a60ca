// SPDX-License-Identifier: BSD-3-Clause
// Which results of a run are shown where there is room for a few: in tables, in the tiles and charts of pages, and
// under the keys and metrics that are older than results by name. Only this file decides that.
#pragma once

#include <optional>
#include <string>

#include "common/records/step_figures.hpp"
#include "common/records/step_results.hpp"

namespace ringside {

/// What is absent from the step, or from all steps of the run, is not there.
struct ShownFigures {
  // The scalars of these names, if the solver publishes them.
  std::optional<double> residual_l1;
  std::optional<double> residual_linf;
  std::optional<ReductionScalars> reductions;  // of the first field, as doubles
  // What a chart of the run's course shows: see ShownNames.
  std::optional<double> course;
  std::optional<double> course_linf;
};

ShownFigures shown_of(const StepResults& results);

/// The full names of the course. It is the change of the iterate: the residuals if the solver publishes them, else the
/// change of the first field. A run without fields has the first scalar of its solver instead. Empty: there is none.
struct ShownNames {
  std::string course;
  std::string course_linf;
  bool is_change = true;
};

ShownNames shown_names(const StepResults& results);

/// The first variable that is a field; null if all are states.
const Variable* first_field(const Schema& schema);

}  // namespace ringside
