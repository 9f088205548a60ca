// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/run_list.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "cli/terminal/format.hpp"
#include "cli/terminal/run_text.hpp"
#include "common/platform/clock.hpp"
#include "common/records/shown_results.hpp"
#include "common/text/hex.hpp"
#include "common/text/printable.hpp"
#include "common/text/utc_text.hpp"

namespace ringside {
namespace {

std::optional<double> idle_share(std::int64_t part_ns, std::int64_t whole_ns) {
  if (whole_ns <= 0) return std::nullopt;
  return static_cast<double>(part_ns) / static_cast<double>(whole_ns);
}

std::optional<double> producer_idle(const RecordedRun& run) {
  return idle_share(run.totals.sums.producer_idle_ns, run.totals.sums.producer_ns());
}

std::optional<double> analyzer_idle(const RecordedRun& run) {
  return idle_share(run.totals.sums.analyzer_idle_ns, run.totals.sums.analyzer_ns());
}

std::string percent_of(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

/// Cuts a text that is too long for its column. Keeps the end of the text, because the end is the file's name.
std::string fitted(const std::string& text, std::size_t most) {
  const std::string shown = printable(text);
  return shown.size() <= most ? shown : "..." + shown.substr(shown.size() - (most - 3));
}

}  // namespace

Json to_json(const ListedRun& listed) {
  const RecordedRun& run = *listed.run;
  const StepSums& sums = run.totals.sums;
  Json object = {{"name", listed.name}, {"run_id", hex(run.run_id)}, {"state", listed.state}};
  const wire::RunStarted none;
  const wire::RunStarted& started = run.started ? *run.started : none;
  object["problem_id"] = run.started ? Json(hex(started.problem_id())) : Json();
  object["solver"] = started.solver();
  object["matrix"] = started.matrix();
  object["parameters"] = started.parameters();
  object["started_s"] = run.started ? Json(seconds(started.started_unix_ns())) : Json();
  object["last_record_s"] = seconds(run.last_unix_ns);
  object["iteration"] = run.last.iteration;
  object["steps"] = sums.steps;
  object["steps_without_record"] = sums.records_missing + run.totals.steps_before;
  object["course"] = run.course.course;
  object["course_is_change"] = run.course.is_change;
  object["last"] = number_or_null(run.last.value);
  object["elapsed_ns"] = run.last.elapsed_ns;
  const auto share = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  object["producer_idle_share"] = share(producer_idle(run));
  object["analyzer_idle_share"] = share(analyzer_idle(run));
  object["storage"] = started.storage();
  object["version"] = run.version;
  object["text"] = run.ended ? run.ended->text() : std::string();
  return object;
}

std::string runs_table(const std::vector<ListedRun>& runs) {
  constexpr std::size_t kMostName = 28;
  constexpr std::size_t kMostProblem = 28;
  std::string text =
      fmt::format("{:<28} {:<8} {:<28} {:<11} {:>11} {:>10} {:>8} {:>8} {:>8}  {}\n", "pool", "run", "problem", "state",
                  "iteration", "residual", "time", "P idle", "A idle", "started");
  for (const ListedRun& listed : runs) {
    const RecordedRun& run = *listed.run;
    const wire::RunStarted& started = run.started ? *run.started : wire::RunStarted::default_instance();
    text += fmt::format(
        "{:<28} {:<8} {:<28} {:<11} {:>11} {:>10} {:>8} {:>8} {:>8}  {}\n", fitted(listed.name, kMostName),
        id_text(run.run_id), fitted(problem_text(started.solver(), started.matrix(), ""), kMostProblem), listed.state,
        with_separators(run.last.iteration), std::isnan(run.last.value) ? "-" : fmt::format("{:.3e}", run.last.value),
        duration_text(run.last.elapsed_ns), percent_of(producer_idle(run)), percent_of(analyzer_idle(run)),
        run.started ? utc_text(started.started_unix_ns()) : "-");
  }
  return text;
}

}  // namespace ringside
