// SPDX-License-Identifier: BSD-3-Clause
#include "cli/watch/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/http/page_assets.hpp"
#include "cli/pool/pool_arguments.hpp"
#include "cli/run_history/history_json.hpp"
#include "cli/terminal/format.hpp"
#include "common/records/shown_results.hpp"

namespace ringside {
namespace {

Json account_of(const RunView& run) {
  const StepSums& sums = run.sums;
  return {{"total_ns", std::max(sums.producer_ns(), sums.analyzer_ns())},
          {"generate_ns", sums.generate_ns},
          {"producer_idle_ns", sums.producer_idle_ns},
          {"transfer_ns", sums.transfer_ns},
          {"commit_ns", sums.commit_ns},
          {"analyze_ns", sums.analyze_ns},
          {"record_ns", sums.record_ns},
          {"analyzer_idle_ns", sums.analyzer_idle_ns},
          {"steps_committed", run.last.steps_committed()},
          {"steps_persisted", run.steps_persisted},
          {"steps_skipped", sums.steps_skipped},
          {"residual_l1", number_or_null(shown_of(run.last_results).residual_l1)},
          {"iteration", run.last.iteration()}};
}

Json notices_of(const RunView& run) {
  Json notices = Json::array();
  if (run.steps_before > 0) {
    notices.push_back(fmt::format("The first {} steps are no longer in the journal: sums are over the rest.",
                                  with_separators(run.steps_before)));
  }
  if (run.sums.rebuilt > 0) {
    notices.push_back(fmt::format("{} steps are known only from the ring: their durations count as 0.",
                                  with_separators(run.sums.rebuilt)));
  }
  if (run.sums.records_missing > 0) {
    notices.push_back(fmt::format("{} steps have no record.", with_separators(run.sums.records_missing)));
  }
  if (run.last_results.size() > kMostPlotted) {
    notices.push_back(fmt::format("{} of {} results are shown.", kMostPlotted, run.last_results.size()));
  }
  return notices;
}

}  // namespace

Json report_of(const RunHistory& history) {
  const RunView& run = history.run().value();
  Json report = describe(history);
  for (const char* key : {"last", "totals", "ring"}) report.erase(key);
  if (run.hand_off.count() == 0) report["hand_off_ns"] = nullptr;
  report["state"] = "not ended when the report was written";
  report["account"] = account_of(run);
  report["notices"] = notices_of(run);
  report["steps"] = to_json(run.series.from(0, run.series.size()), plotted_results(run));
  report["analyses"] = to_json(run.analyses, analysis_names(run.analyses), 0);
  report["images"] = Json::array();
  report["kept"] = Json::array();
  report["kept_hint"] = "";
  return report;
}

Json report_of_summary(const Json& summary, const std::string& name) {
  check_summary(summary, name);
  const auto value = [&summary](const char* key) { return summary.contains(key) ? summary.at(key) : Json(); };
  const auto ns = [&summary](const char* key) { return std::llround(number(summary, key) * 1e9); };
  Json report;
  for (const char* key : {"run_id", "problem_id", "solver", "matrix", "parameters", "rows", "nonzeros", "coordination",
                          "buffers", "slots", "storage", "durability", "reduce", "passes"}) {
    if (!value(key).is_null()) report["run"][key] = value(key);
  }
  if (const double steps = number(summary, "steps_committed"); steps > 0 && value("planned_total_s").is_number()) {
    for (const auto& [key, from] :
         {std::pair{"step_ns", "planned_total_s"}, {"low_ns", "planned_low_s"}, {"high_ns", "planned_high_s"}}) {
      report["run"]["planned"][key] = std::llround(number(summary, from) * 1e9 / steps);
    }
  }
  report["ended"] = nullptr;
  report["state"] = value("converged") == true ? "converged" : "not converged";
  Json& account = report["account"] = {{"total_ns", ns("total_s")}};
  for (const std::string part :
       {"generate", "producer_idle", "transfer", "commit", "analyze", "record", "analyzer_idle"}) {
    account[part + "_ns"] = ns((part + "_s").c_str());
  }
  for (const char* key : {"steps_committed", "steps_persisted", "steps_skipped", "residual_l1"})
    account[key] = value(key);
  account["iteration"] = value("iterations");
  report["hand_off_ns"] = value("hand_off_ns");
  report["notices"] = {"A summary holds sums only; the steps are in the journal beside the pool."};
  report["shown"] = {{"field", nullptr}, {"course", ""}, {"is_change", true}, {"results", Json::array()}};
  report["marks"] = nullptr;
  report["images"] = Json::array();
  report["steps"] = Json::array();
  report["kept"] = Json::array();
  report["kept_hint"] = "the last iterate";
  if (value("last").is_object()) {
    Json last = value("last");
    last["step"] = nullptr;
    report["kept"].push_back(last);
  }
  return report;
}

std::string report_page(const Json& report) {
  return page_with_data("/report.html", report);
}

}  // namespace ringside
