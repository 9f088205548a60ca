// SPDX-License-Identifier: BSD-3-Clause
#include "node/scale/scale_model.hpp"

namespace ringside {

NodeFigures node_figures(const Prediction& prediction, const RunShape& run, const Costs& costs) {
  const auto iterations = static_cast<double>(run.iterations);
  const auto steps = static_cast<double>((run.iterations + run.every - 1) / run.every);
  const auto seconds = [](const std::optional<Measured>& figure) { return figure ? figure->value : 0; };
  return {.generate_s = prediction.generate_s / iterations,
          .transfer_s = (prediction.transfer_s + prediction.commit_s) / steps,
          .analyze_s = prediction.analyze_s / steps,
          .hand_off_s = seconds(costs.hand_off_s),
          .wake_up_s = seconds(costs.wake_up_s),
          .buffers = run.buffers,
          .slots = run.slots,
          .step_bytes = run.step_bytes};
}

std::string_view to_string(Coupling coupling) noexcept {
  switch (coupling) {
    case Coupling::kAll: return "all";
    case Coupling::kNeighbours: return "neighbours";
    case Coupling::kNone: break;
  }
  return "none";
}

}  // namespace ringside
