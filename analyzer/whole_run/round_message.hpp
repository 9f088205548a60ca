// SPDX-License-Identifier: BSD-3-Clause
// The message of a step that passes the nodes (proto/ringside.proto, RoundStep).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/whole_run/round_plan.hpp"
#include "common/records/step_figures.hpp"
#include "common/reductions/whole/whole_field.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

inline constexpr std::size_t kMostRoundBytes = std::size_t{1} << 20;  // 256 fields take less than half of it

/// The state of a step that has passed some of the nodes.
struct RoundState {
  std::uint64_t step = 0;
  std::uint64_t iteration = 0;
  std::uint32_t node = 0;  // the node whose turn it is
  std::uint64_t collected = 0;
  std::optional<std::uint32_t> lost_by;
  bool ended = false;
  bool again = false;              // whether the collector has sent this step before
  bool has_figures = false;        // whether a node has added its figures
  StepFigures figures;             // only its durations, bytes and counts are used
  std::vector<WholeField> fields;  // for each variable; fields without results stay empty
};

/// Combines figures of nodes: the maximum of each duration, the sum of the bytes, the minimum of the counts.
void take_figures(RoundState& state, const StepFigures& own) noexcept;

void write(const RoundPlan& plan, const RoundState& state, wire::RoundStep& message);

/// Returns false if the message belongs to another attachment, or is one that no node of this run sends. fields: one
/// per variable.
bool read(const RoundPlan& plan, const wire::RoundStep& message, RoundState& state);

}  // namespace ringside
