// SPDX-License-Identifier: BSD-3-Clause
// The records of events at a step: a mark for each trigger that fired, for each condition without a value, and for
// steps that the archive could not take (docs/use/questions.md).
#pragma once

#include <span>
#include <vector>

#include "common/records/step_figures.hpp"
#include "common/triggers/step_marks.hpp"
#include "common/triggers/trigger_spec.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// The records have no numbers and times yet. triggers: those of the run; the bits of `marks` refer to them.
std::vector<wire::Record> mark_records(const StepMarks& marks, const StepFigures& figures,
                                       std::span<const TriggerSpec> triggers);

}  // namespace ringside
