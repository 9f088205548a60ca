// SPDX-License-Identifier: BSD-3-Clause
// One trial of a user's program: its first steps with one split of the cores, in a pool that is removed afterwards
// (docs/inside/model.md, "Trials of a program").
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/run/run_options.hpp"
#include "common/program/topology.hpp"
#include "common/records/plain_record.hpp"
#include "node/plan/plan.hpp"

namespace ringside {

struct Trial {
  std::optional<PlanRow> row;  // empty: the trial failed, or was interrupted
  ExitCode code = ExitCode::kDone;
  std::string reason;  // for the user, if the trial failed
};

/// The cores of a run with this configuration. Lists that the user gave are used unchanged.
CorePlan cores_with(const RunOptions& options, const Configuration& configuration);

/// Runs options.program until it has published enough steps, but at most about `most_s` seconds. The stop signals must
/// be blocked already. Throws Error as a run does, if nothing can be started.
Trial make_trial(const CommandLine& line, RunOptions options, const Configuration& configuration, double most_s);

/// The times of a step, from the recorded steps of a trial in their order; empty if these are too few.
std::optional<PlanRow> measured_row(const Configuration& configuration, std::span<const PlainStep> steps,
                                    std::size_t buffers = 2);

}  // namespace ringside
