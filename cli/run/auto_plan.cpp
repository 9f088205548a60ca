// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/auto_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/terminal/format.hpp"
#include "cli/terminal/record_table.hpp"
#include "common/platform/error.hpp"
#include "common/program/topology.hpp"
#include "common/text/printable.hpp"
#include "node/calibration/fingerprint.hpp"
#include "node/file/node_file.hpp"
#include "node/file/node_place.hpp"

namespace ringside {
namespace {

/// A plan in which nothing is chosen yet.
AutoPlan request_with(const PlannedOptions& options, const std::string& file) {
  AutoPlan made;
  made.node_file = file;
  made.node = read_node(file);
  refuse_foreign(made.node, file, fingerprint(read_machine()));
  made.request = plan_request(made.node, options);
  return made;
}

AutoPlan plan_with(const PlannedOptions& options, const std::string& file) {
  AutoPlan made = request_with(options, file);
  const Plan plan = make_plan(made.node, made.request);
  made.chosen = plan.rows[plan.best];
  return made;
}

/// Whether both values of --reduce were measured while the solver worked, with the requested split of cores.
bool was_paired(const Node& node, const PlanRequest& request) {
  constexpr std::array kSeconds = {KernelKind::kTransfer, KernelKind::kAnalyze, KernelKind::kTransferReduced};
  const std::vector<PairFigures> pairs = model_of(node, request.model).pairs;
  return std::all_of(kSeconds.begin(), kSeconds.end(), [&](KernelKind second) {
    return std::any_of(pairs.begin(), pairs.end(), [&](const PairFigures& pair) {
      return pair.second == second && pair.first_threads == request.producer_threads &&
             pair.second_threads == request.analyzer_threads;
    });
  });
}

std::uint64_t steps_of(const RunShape& run) {
  return (run.iterations + run.every - 1) / run.every;
}

}  // namespace

std::string AutoPlan::in_words() const {
  const PlannedStepOptions step = planned_step(*this, false);
  const auto duration = [](std::uint64_t ns) { return duration_text(static_cast<std::int64_t>(ns)); };
  return fmt::format("{}: {} a step predicted ({} to {}), limited by {}; figures of {}, measured {}",
                     ringside::in_words(chosen.configuration), duration(step.step_ns), duration(step.low_ns),
                     duration(step.high_ns), to_string(chosen.prediction.bottleneck), printable(node_file),
                     printable(node.measured_at));
}

std::optional<AutoPlan> make_auto_plan(const PlannedOptions& options, const std::string& node_file,
                                       std::string& why_not) {
  if (!node_file.empty()) return plan_with(options, node_file);
  try {
    return plan_with(options, default_node_file());
  } catch (const Error& error) {
    why_not = fmt::format("--cores auto: the topology chose the cores instead: {}", error.what());
    return std::nullopt;
  }
}

std::optional<AutoPlan> make_mode_plan(const PlannedOptions& options, int producer_threads, int analyzer_threads) {
  try {
    AutoPlan made = request_with(options, default_node_file());
    made.request.producer_threads = producer_threads;
    made.request.analyzer_threads = analyzer_threads;
    const Plan plan = make_plan(made.node, made.request);
    if (!plan.remarks.empty() || !was_paired(made.node, made.request)) return std::nullopt;
    // The first row has the default values of all options that the user did not set.
    const bool clearly = plan.rows[plan.best].expected_s < kClearlyFaster * plan.rows.front().expected_s;
    made.chosen = plan.rows[clearly ? plan.best : 0];
    return made;
  } catch (const Error&) {
    return std::nullopt;  // no error, because the user did not request a plan
  }
}

PlannedStepOptions planned_step(const AutoPlan& plan, bool adapt) {
  const auto per_step = [steps = static_cast<double>(steps_of(plan.request.run))](double seconds) {
    return static_cast<std::uint64_t>(std::max(seconds, 0.0) * 1e9 / steps);
  };
  const PlanRow& row = plan.chosen;
  return {.step_ns = per_step(row.prediction.total_s),
          .low_ns = per_step(row.low_s),
          .high_ns = per_step(row.high_s),
          .producer_idle_ns = per_step(row.prediction.producer_idle_s),
          .analyzer_idle_ns = per_step(row.prediction.analyzer_idle_s),
          .adapt = adapt};
}

PlanRow predicted(const AutoPlan& plan, std::uint64_t iterations) {
  PlanRequest request = plan.request;
  request.run.iterations = iterations;
  const Configuration& chosen = plan.chosen.configuration;
  request.producer_threads = chosen.producer_threads;
  request.analyzer_threads = chosen.analyzer_threads;
  request.elastic = chosen.elastic;
  request.reduce_on_transfer = chosen.reduce_on_transfer;
  return make_plan(plan.node, request).rows.front();
}

void add_plan(Json& summary, const std::optional<AutoPlan>& plan) {
  Json figures;
  const double done = number(summary, "iterations") - number(summary, "resumed_from");
  if (plan && done >= 1) {
    const PlanRow row = predicted(*plan, static_cast<std::uint64_t>(done));
    figures["total_s"] = row.prediction.total_s;
    figures["low_s"] = row.low_s;
    figures["high_s"] = row.high_s;
    figures["generate_s"] = row.prediction.generate_s;
    figures["producer_idle_s"] = row.prediction.producer_idle_s;
    figures["transfer_s"] = row.prediction.transfer_s;
    figures["commit_s"] = row.prediction.commit_s;
    figures["analyze_s"] = row.prediction.analyze_s;
    figures["analyzer_idle_s"] = row.prediction.analyzer_idle_s;
  }
  for (const char* key : {"total_s", "low_s", "high_s", "generate_s", "producer_idle_s", "transfer_s", "commit_s",
                          "analyze_s", "analyzer_idle_s"}) {
    summary[std::string("planned_") + key] = figures.contains(key) ? figures[key] : Json();
  }
  summary["node_file"] = plan ? Json(plan->node_file) : Json();
}

std::string verdict(const Json& summary) {
  const double total = number(summary, "total_s");
  const double planned = number(summary, "planned_total_s");
  const double low = number(summary, "planned_low_s");
  const double high = number(summary, "planned_high_s");
  if (planned <= 0 || total <= 0) return "";
  const double off = 100 * (total / planned - 1);
  const bool within = low <= total && total <= high;
  return fmt::format("{}, {:.1f} % {} than planned ({}, {} to {}){}", run_time(total, total), std::abs(off),
                     off < 0 ? "less" : "more", run_time(planned, total), run_time(low, total), run_time(high, total),
                     within ? "" : ": outside the interval; is the machine as idle as when it was calibrated?");
}

}  // namespace ringside
