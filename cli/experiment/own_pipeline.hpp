// SPDX-License-Identifier: BSD-3-Clause
// Adds a run of Ringside to the published simulation, with the same matrix, iterations, sweeps and splits of threads.
// The run is started by `ringside run`, as by a user, with its ring in the same memory.
#pragma once

#include "node/experiments/experiment.hpp"

namespace ringside {

/// Adds the table "ringside" to the result of the experiment `pipeline`. The row of a run that fails is n/a, with the
/// run's message. No file remains. Throws Error: exit code 130 if a signal requested a stop, 3 if no run can start.
void add_own_pipeline(const Surroundings& around, ExperimentResult& result);

}  // namespace ringside
