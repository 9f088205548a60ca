// SPDX-License-Identifier: BSD-3-Clause
// A step as a record holds it: its figures and its results by name.
#pragma once

#include "common/records/step_figures.hpp"
#include "common/records/step_results.hpp"

namespace ringside {

struct RecordedStep {
  StepFigures figures;
  StepResults results;
};

}  // namespace ringside
