// SPDX-License-Identifier: BSD-3-Clause
// What the model chose for a run, and what it predicted: cores and modes with `--cores auto`, modes alone without
// --cores on a machine that was calibrated for the problem.
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

/// node_file: empty: the one at the default place. If no plan can be made there, because the file is missing, foreign,
/// damaged or lacks the problem, nothing is returned and `why_not` is one line with the way out. Throws Error for a
/// file that the user named.
std::optional<AutoPlan> make_auto_plan(const PlannedOptions& options, const std::string& node_file,
                                       std::string& why_not);

/// For a run whose cores are those of the topology: how to reduce, and whether cores are elastic. The defaults stay
/// unless another way is predicted to be clearly faster. Returns nothing if the file at the default place lacks figures
/// of this machine for exactly this problem, memory and split, so that something would be derived, scaled or assumed.
std::optional<AutoPlan> make_mode_plan(const PlannedOptions& options, int producer_threads, int analyzer_threads);

/// The figures of one step, for the analyzer.
PlannedStepOptions planned_step(const AutoPlan& plan, bool adapt);

/// What is predicted for `iterations` iterations: they may end earlier than was allowed.
PlanRow predicted(const AutoPlan& plan, std::uint64_t iterations);

/// Sets the keys planned_* and node_file of a summary, for as many iterations as it has; null without a plan.
void add_plan(Json& summary, const std::optional<AutoPlan>& plan);

/// "0.530 s, 3.5 % more than planned (0.512 s, 0.490 to 0.540 s)", and whether that is outside the interval; empty
/// without a plan.
std::string verdict(const Json& summary);

}  // namespace ringside
