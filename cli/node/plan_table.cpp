// SPDX-License-Identifier: BSD-3-Clause
#include "cli/node/plan_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/node/planning.hpp"
#include "cli/terminal/format.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

double share(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

std::string problem_text(const ProblemSize& problem) {
  return fmt::format("{}{}{} rows, {} nonzeros", problem.solver,
                     problem.matrix.empty() ? ": " : " of " + printable(problem.matrix) + ": ",
                     with_separators(problem.rows), with_separators(problem.nonzeros));
}

/// Whether the table must show the expected times. The plan chooses the row with the least expected time; the expected
/// times are shown if the totals suggest another row.
bool needs_expected(const Plan& plan) {
  const double total = plan.rows[plan.best].prediction.total_s;
  return std::any_of(plan.rows.begin(), plan.rows.end(),
                     [&](const PlanRow& row) { return row.prediction.total_s < total; });
}

std::string table_row(const PlanRow& row, bool best, bool with_expected) {
  const Prediction& p = row.prediction;
  const std::string expected = with_expected ? fmt::format(" {:>10}", seconds_text(row.expected_s)) : "";
  return fmt::format("  {} {:>3} + {:<3}  {:<9} {:<5} {:>10}{}  {:>10} {:>10}   {:>6.1f} %  {:>6.1f} %   {}\n",
                     best ? '*' : ' ', row.configuration.producer_threads, row.configuration.analyzer_threads,
                     reduce_word(row.configuration), row.configuration.elastic ? "on" : "off", seconds_text(p.total_s),
                     expected, seconds_text(row.low_s), seconds_text(row.high_s), share(p.producer_idle_s, p.total_s),
                     share(p.analyzer_idle_s, p.total_s), to_string(p.bottleneck));
}

Json json_row(const PlanRow& row) {
  const Prediction& p = row.prediction;
  Json object = {{"producer_cores", row.configuration.producer_threads},
                 {"analyzer_cores", row.configuration.analyzer_threads},
                 {"reduce", reduce_word(row.configuration)},
                 {"elastic", row.configuration.elastic}};
  object["total_s"] = p.total_s;
  object["expected_s"] = row.expected_s;
  object["low_s"] = row.low_s;
  object["high_s"] = row.high_s;
  object["generate_s"] = p.generate_s;
  object["producer_idle_s"] = p.producer_idle_s;
  object["transfer_s"] = p.transfer_s;
  object["commit_s"] = p.commit_s;
  object["analyze_s"] = p.analyze_s;
  object["analyzer_idle_s"] = p.analyzer_idle_s;
  object["bottleneck"] = to_string(p.bottleneck);
  return object;
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} s", seconds);
}

std::string rows_table(const Plan& plan, std::string_view time, bool with_expected) {
  std::string out =
      fmt::format("      cores    --reduce  elast. {:>10}{}   90 % lie between     producer  analyzer   limited by\n",
                  time, with_expected ? "   expected" : "");
  out += fmt::format("{:66}{}    idle      idle\n", "", with_expected ? "           " : "");
  for (std::size_t i = 0; i < plan.rows.size(); ++i) out += table_row(plan.rows[i], i == plan.best, with_expected);
  return out;
}

Json rows_json(const Plan& plan) {
  Json rows = Json::array();
  for (const PlanRow& row : plan.rows) rows.push_back(json_row(row));
  return rows;
}

std::string plan_table(const Node& node, const PlanRequest& request, const Plan& plan) {
  std::string out = fmt::format("ringside plan: {}\n", problem_text(request.model.problem));
  out += fmt::format("  run        {}, every {}, {}, {}, {} in {}{}\n", counted(request.run.iterations, "iteration"),
                     request.run.every, counted(static_cast<std::uint64_t>(request.run.passes), "pass"),
                     counted(request.run.buffers, "buffer"), counted(request.run.slots, "slot"),
                     printable(request.model.tier), request.model.synced ? ", synced" : "");
  out += fmt::format("  node       {}\n", printable(node.name));
  out += fmt::format("  figures    {}{}\n\n", printable(node.origin),
                     node.measured_at.empty() ? "" : ", " + printable(node.measured_at));
  out += rows_table(plan, "total", needs_expected(plan));
  const PlanRow& best = plan.rows[plan.best];
  const bool is_simplest = std::any_of(plan.rows.begin(), plan.rows.end(),
                                       [&](const PlanRow& row) { return row.expected_s < best.expected_s; });
  out += fmt::format("\n  * least expected time{}: {}, expected {}\n",
                     is_simplest ? " (the simplest choice within half a percent of it)" : "",
                     in_words(best.configuration), seconds_text(best.expected_s));
  for (const std::string& remark : plan.remarks) out += fmt::format("  note: {}\n", printable(remark));
  for (const std::string& remark : node.remarks) out += fmt::format("  note: {}\n", printable(remark));
  return out;
}

Json to_json(const Node& node, const PlanRequest& request, const Plan& plan) {
  const ProblemSize& problem = request.model.problem;
  Json object = {{"node", node.name}, {"origin", node.origin}, {"measured_at", node.measured_at}};
  object["problem"] = {{"matrix", problem.matrix}, {"solver", problem.solver}};
  object["problem"]["rows"] = problem.rows;
  object["problem"]["nonzeros"] = problem.nonzeros;
  object["memory"] = request.model.tier;
  object["synced"] = request.model.synced;
  object["run"]["iterations"] = request.run.iterations;
  object["run"]["every"] = request.run.every;
  object["run"]["passes"] = request.run.passes;
  object["run"]["buffers"] = request.run.buffers;
  object["run"]["slots"] = request.run.slots;
  object["rows"] = rows_json(plan);
  object["best"] = plan.best;
  object["model"]["exponent"] = plan.exponent;
  object["model"]["capacity_bytes_s"] = plan.capacity_bytes_s;
  object["model"]["coupling_error"] = plan.coupling_error ? Json(*plan.coupling_error) : Json();
  object["remarks"] = plan.remarks;
  for (const std::string& remark : node.remarks) object["remarks"].push_back(remark);
  return object;
}

}  // namespace ringside
