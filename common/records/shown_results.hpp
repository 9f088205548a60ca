// SPDX-License-Identifier: BSD-3-Clause
// Which results of a run are shown where there is room for a few: in tables, in the tiles and charts of pages, and
// under the keys and metrics that are older than results by name. Only this file decides that. And results as JSON: the
// same keys and the same values in every command, page and summary.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "common/json/json.hpp"
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

/// A number; an i128 beyond 64 bits is a text; null if the value is absent, NaN or infinite.
Json to_json(const StepValue& value);

/// {"x.l2": 1.5, "x.change_l1": null, "solver.rho": 0.25}: the first `at_most` of them.
Json to_json(const StepResults& results, std::size_t at_most = std::numeric_limits<std::size_t>::max());

/// Null if it is not there, NaN or infinite.
Json number_or_null(const std::optional<double>& value);

/// The summary's `last` object: {iteration, mean, min, max, l1, l2, linf}. Values: Reductions, or another type with
/// these members.
template <class Values>
Json to_json(const Values& r, std::uint64_t iteration) {
  return {{"iteration", iteration}, {"mean", r.mean}, {"min", r.min}, {"max", r.max}, {"l1", r.l1}, {"l2", r.l2},
          {"linf", r.linf}};
}

/// Everything: the above plus rows, sum, change norms (null without a predecessor), non_finite, top entries,
/// histogram.
Json to_json_in_full(const Reductions& reductions, std::uint64_t iteration);

}  // namespace ringside
