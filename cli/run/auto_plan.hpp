// SPDX-License-Identifier: BSD-3-Clause
// The model's choice for a run, and its prediction: cores and modes with `--cores auto`, or only modes if --cores is
// not given and the machine was calibrated for the problem.
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

/// node_file: empty: the one at the default place. If that file is missing, foreign, damaged or lacks the problem,
/// returns no plan, and `why_not` is one line with the remedy. Throws Error for a file that the user named.
std::optional<AutoPlan> make_auto_plan(const PlannedOptions& options, const std::string& node_file,
                                       std::string& why_not);

/// For a run on the cores of the topology: chooses how to reduce, and whether cores are elastic. The defaults stay
/// unless another way is predicted to be clearly faster. Empty if the default file lacks this machine's figures for
/// exactly this problem, memory and split, because figures would then be derived, scaled or assumed.
std::optional<AutoPlan> make_mode_plan(const PlannedOptions& options, int producer_threads, int analyzer_threads);

/// The figures of one step, for the analyzer.
PlannedStepOptions planned_step(const AutoPlan& plan, bool adapt);

/// The prediction for `iterations` iterations, as a run may end before its limit.
PlanRow predicted(const AutoPlan& plan, std::uint64_t iterations);

/// Sets the keys planned_* and node_file of a summary, for its number of iterations; null without a plan.
void add_plan(Json& summary, const std::optional<AutoPlan>& plan);

/// "0.530 s, 3.5 % more than planned (0.512 s, 0.490 to 0.540 s)", and whether that is outside the interval; empty
/// without a plan.
std::string verdict(const Json& summary);

}  // namespace ringside
