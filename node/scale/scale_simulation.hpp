// SPDX-License-Identifier: BSD-3-Clause
// A discrete-event simulation of a run of many nodes (docs/inside/ranks.md). Each node has ranks, buffers and an
// analyzer, as in node/plan/pipeline_simulation; nodes exchange messages.
#pragma once

#include "node/scale/scale_model.hpp"

namespace ringside {

/// The first steps of a run, which the lags and the time of a step exclude; at most a quarter of the steps.
inline constexpr std::uint64_t kUnsteadySteps = 20;

/// The same request gives the same result. Throws Error (exit code 2) for a request without nodes, buffers or steps,
/// with more than kMostSimulatedNodes, or whose slow node does not exist.
ScaleResult simulate(const ScaleRequest& request);

}  // namespace ringside
