// SPDX-License-Identifier: BSD-3-Clause
// Chooses which results of a run are shown in places that have room for only a few: tables, the tiles and charts of
// pages, and the keys and metrics that existed before results had names. Only this file makes this choice. Also
// converts results to JSON, with the same keys and values in every command, page and summary.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "common/json/json.hpp"
#include "common/records/step_results.hpp"

namespace ringside {

/// The figures of a step to show. A value that is absent from the step, or from all steps of the run, is empty.
struct ShownFigures {
  // The scalars with these names, if the solver publishes them.
  std::optional<double> residual_l1;
  std::optional<double> residual_linf;
  std::optional<ReductionScalars> reductions;  // the reductions of the first field, as doubles
  // The values for a chart of how the run progresses: see ShownNames.
  std::optional<double> course;
  std::optional<double> course_linf;
};

ShownFigures shown_of(const StepResults& results);

/// The full names of the results that show how the run progresses. They measure the change of the iterate: the
/// residuals if the solver publishes them, otherwise the change of the first field. For a run without fields, the first
/// scalar of the solver is used instead. Empty if there is no such result.
struct ShownNames {
  std::string course;
  std::string course_linf;
  bool is_change = true;
};

ShownNames shown_names(const StepResults& results);

/// The first variable that is a field; null if all variables are states.
const Variable* first_field(const Schema& schema);

/// A number, or a text for an i128 beyond 64 bits; null if the value is absent, NaN or infinite.
Json to_json(const StepValue& value);

/// The first `at_most` results as an object: {"x.l2": 1.5, "x.change_l1": null, "solver.rho": 0.25}.
Json to_json(const StepResults& results, std::size_t at_most = std::numeric_limits<std::size_t>::max());

/// Null if the value is absent, NaN or infinite.
Json number_or_null(const std::optional<double>& value);

/// The summary's `last` object: {iteration, mean, min, max, l1, l2, linf}. Values: Reductions, or another type with
/// these members.
template <class Values>
Json to_json(const Values& r, std::uint64_t iteration) {
  return {{"iteration", iteration}, {"mean", r.mean}, {"min", r.min}, {"max", r.max}, {"l1", r.l1}, {"l2", r.l2},
          {"linf", r.linf}};
}

/// All values: those of the template above, and also rows, sum, change norms (null without a previous iterate),
/// non_finite, top entries, histogram.
Json to_json_in_full(const Reductions& reductions, std::uint64_t iteration);

}  // namespace ringside
