// SPDX-License-Identifier: BSD-3-Clause
// The model's choice for a run, and its prediction. With `--cores auto`, the model chooses cores and modes. If
// --cores is not given and the machine was calibrated for the problem, the model chooses only the modes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/node/planning.hpp"
#include "common/json/json.hpp"
#include "common/options/options.hpp"
#include "node/plan/plan.hpp"

namespace ringside {

struct AutoPlan {
  std::string node_file;
  Node node;
  PlanRequest request;
  PlanRow chosen;

  /// "1 + 1 cores, --reduce slot, --elastic off: 5.12 ms a step predicted (4.90 ms to 5.40 ms), limited by the solver;
  /// figures of FILE, measured 2026-11-23T01:00:00Z"
  std::string in_words() const;
};

/// node_file: the file that the user named; empty: the file at the default place. If the default file is missing,
/// belongs to another machine, is damaged or lacks the problem, returns no plan; `why_not` is then one line with the
/// remedy. If the user named the file, throws Error instead.
std::optional<AutoPlan> make_auto_plan(const PlannedOptions& options, const std::string& node_file,
                                       std::string& why_not);

/// For a run on the cores that the topology determines: chooses how to reduce, and whether cores are elastic. The
/// defaults are kept unless another choice is predicted to be clearly faster. Empty if the default file lacks this
/// machine's figures for exactly this problem, memory and split of cores, because figures would then be derived, scaled
/// or assumed.
std::optional<AutoPlan> make_mode_plan(const PlannedOptions& options, int producer_threads, int analyzer_threads);

/// The planned figures of one step, which the analyzer receives.
PlannedStepOptions planned_step(const AutoPlan& plan, bool adapt);

/// The prediction for a run of `iterations` iterations. A run may end before its limit.
PlanRow predicted(const AutoPlan& plan, std::uint64_t iterations);

/// Sets the keys planned_* and node_file of a summary, for the summary's number of iterations. Without a plan, the
/// values are null.
void add_plan(Json& summary, const std::optional<AutoPlan>& plan);

/// "0.530 s, 3.5 % more than planned (0.512 s, 0.490 to 0.540 s)", and whether the time is outside the planned
/// interval; empty without a plan.
std::string verdict(const Json& summary);

}  // namespace ringside
