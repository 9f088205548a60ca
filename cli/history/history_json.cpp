// SPDX-License-Identifier: BSD-3-Clause
#include "cli/history/history_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/platform/clock.hpp"
#include "common/program/schema_json.hpp"
#include "common/records/older_results.hpp"
#include "common/records/results_json.hpp"

namespace ringside {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const wire::PlannedStep& planned) {
  return {{"step_ns", planned.step_ns()},
          {"low_ns", planned.low_ns()},
          {"high_ns", planned.high_ns()},
          {"producer_idle_ns", planned.producer_idle_ns()},
          {"analyzer_idle_ns", planned.analyzer_idle_ns()}};
}

ordered_json plug_ins_of(const wire::RunStarted& run) {
  ordered_json list = ordered_json::array();
  for (const wire::PlugIn& plug_in : run.plug_ins()) {
    list.push_back({{"name", plug_in.name()},
                    {"spec", plug_in.spec()},
                    {"deaths", plug_in.deaths()},
                    {"left_out", plug_in.left_out()}});
  }
  return list;
}

ordered_json to_json(const wire::RunStarted& run) {
  return {{"problem_id", hex(run.problem_id())},
          {"solver", run.solver()},
          {"matrix", run.matrix()},
          {"parameters", run.parameters()},
          {"rows", run.rows()},
          {"nonzeros", run.nonzeros()},
          {"started_s", seconds(run.started_unix_ns())},
          {"from_step", run.from_step()},
          {"from_iteration", run.from_iteration()},
          {"buffers", run.buffers()},
          {"coordination", run.coordination()},
          {"slots", run.slots()},
          {"storage", run.storage()},
          {"durability", run.durability()},
          {"passes", run.passes()},
          {"reduce", run.reduce()},
          {"producer_pid", run.producer_pid()},
          {"planned", run.has_planned() ? to_json(run.planned()) : ordered_json()},
          {"plug_ins", plug_ins_of(run)}};
}

ordered_json to_json(const RunMark& mark) {
  return {{"seq", mark.seq},
          {"at_s", seconds(mark.unix_ns)},
          {"step", mark.step},
          {"iteration", mark.iteration},
          {"cause", mark.cause},
          {"name", mark.name},
          {"text", mark.text},
          {"actions", mark.actions}};
}

ordered_json to_json(const RunMarks& marks) {
  ordered_json list = ordered_json::array();
  for (const RunMark& mark : marks.kept()) list.push_back(to_json(mark));
  return {{"count", marks.count()}, {"list", list}};
}

ordered_json to_json(const wire::RunEnded& end) {
  return {{"how", end.how()},
          {"outcome", end.outcome()},
          {"steps_committed", end.steps_committed()},
          {"steps_persisted", end.steps_persisted()},
          {"last_iteration", end.last_iteration()},
          {"exit_code", end.exit_code()},
          {"text", end.text()}};
}

ordered_json to_json(const ReductionScalars& r) {
  const auto change = [&r](double value) { return r.has_change ? ordered_json(value) : ordered_json(); };
  return {{"mean", r.mean},
          {"min", r.min},
          {"max", r.max},
          {"l1", r.l1},
          {"l2", r.l2},
          {"linf", r.linf},
          {"change_l1", change(r.change_l1)},
          {"change_l2", change(r.change_l2)},
          {"change_linf", change(r.change_linf)},
          {"non_finite", r.non_finite}};
}

ordered_json to_json(const SeriesPoint& p) {
  return {{"first_seq", p.first_seq},
          {"seq", p.seq},
          {"steps", p.steps},
          {"at_s", seconds(p.unix_ns)},
          {"step", p.step},
          {"iteration", p.iteration},
          {"generate_ns", p.generate_ns},
          {"producer_idle_ns", p.producer_idle_ns},
          {"analyzer_idle_ns", p.analyzer_idle_ns},
          {"transfer_ns", p.transfer_ns},
          {"commit_ns", p.commit_ns},
          {"analyze_ns", p.analyze_ns},
          {"hand_off_max_ns", p.hand_off_max_ns},
          {"bytes_transferred", p.bytes_transferred},
          {"skipped", p.skipped},
          {"rebuilt", p.rebuilt},
          {"residual_l1", number_or_null(p.shown.residual_l1)},
          {"residual_linf", number_or_null(p.shown.residual_linf)},
          {"reductions", p.shown.reductions ? to_json(*p.shown.reductions) : ordered_json()},
          {"course", number_or_null(p.shown.course)},
          {"course_linf", number_or_null(p.shown.course_linf)}};
}

/// {name: steps that the analysis could not follow}
ordered_json analyses_of(const AnalysisSeries& analyses) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, course] : analyses.courses()) object[name] = course.skipped;
  return object;
}

/// {name: unit} of the plotted results that have one; "1" is none to a reader.
ordered_json units_of(const RunView& run) {
  ordered_json object = ordered_json::object();
  if (!run.layout) return object;
  for (const std::string& name : plotted_results(run)) {
    const RecordedResult* recorded = run.layout->find(name);
    if (recorded != nullptr && !recorded->result->unit.empty() && recorded->result->unit != "1") {
      object[name] = recorded->result->unit;
    }
  }
  return object;
}

/// null where a result is absent; a text where it is not a number that JSON has.
ordered_json value_or_text(const std::optional<double>& value) {
  if (!value || std::isfinite(*value)) return number_or_null(value);
  return std::isnan(*value) ? "NaN" : *value > 0 ? "inf" : "-inf";
}

/// What a page shows of a run that has no room for all: the names of its course, and of the results to choose from.
ordered_json shown_by(const RunView& run) {
  const ShownNames names = shown_names(run.last_results);
  const Variable* field = run.layout ? first_field(run.layout->schema()) : nullptr;
  return {{"field", field != nullptr ? ordered_json(field->name) : ordered_json()},
          {"course", names.course},
          {"course_linf", names.course_linf},
          {"is_change", names.is_change},
          {"results", plotted_results(run)},
          {"analyses", analyses_of(run.analyses)},
          {"units", units_of(run)},
          {"results_left_out", run.last_results.size() - std::min(run.last_results.size(), kMostPlotted)}};
}

ordered_json totals_of(const RunView& run) {
  const StepSums& sums = run.sums;
  return {{"steps", sums.steps},
          {"steps_before", run.steps_before},
          {"steps_committed", run.last.steps_committed()},
          {"steps_persisted", run.steps_persisted},
          {"steps_skipped", sums.steps_skipped},
          {"leases_broken", sums.leases_broken},
          {"generate_ns", sums.generate_ns},
          {"producer_idle_ns", sums.producer_idle_ns},
          {"analyzer_idle_ns", sums.analyzer_idle_ns},
          {"transfer_ns", sums.transfer_ns},
          {"commit_ns", sums.commit_ns},
          {"analyze_ns", sums.analyze_ns},
          {"bytes_transferred", sums.bytes_transferred},
          {"rebuilt", sums.rebuilt},
          {"records_missing", sums.records_missing}};
}

ordered_json to_json(const HandOffTimes& times) {
  return {{"count", times.count()},
          {"p50", times.percentile(0.5)},
          {"p90", times.percentile(0.9)},
          {"p99", times.percentile(0.99)},
          {"max", times.max()}};
}

/// The newest commits, one per slot, oldest first: the content of a ring without damage.
ordered_json ring_of(const RunView& run) {
  constexpr std::size_t kMostSlots = StepSeries::kExact;  // older steps are kept in groups only
  if (!run.started) return {};
  const std::uint64_t slots = run.started->slots();
  ordered_json kept = ordered_json::array();
  for (const SeriesPoint& p : run.series.newest(std::min<std::size_t>(slots, kMostSlots))) {
    kept.push_back(
        {{"iteration", p.iteration},
         {"commit_seq", p.commit_seq},
         {"persisted", p.steps_committed > 0 && p.steps_committed <= run.steps_persisted}});
  }
  return {{"slots", slots},
          {"used", std::min<std::uint64_t>(slots, run.last.commit_seq())},
          {"newest", kept},
          {"frozen_at_iteration", run.frozen_at_iteration ? ordered_json(*run.frozen_at_iteration) : ordered_json()},
          {"guarded_commit_seq", run.last.guarded_commit_seq()}};
}

}  // namespace

ordered_json describe(const RunHistory& history) {
  ordered_json described = {{"run", ordered_json()},    {"ended", ordered_json()},       {"last", ordered_json()},
                            {"totals", ordered_json()}, {"hand_off_ns", ordered_json()}, {"ring", ordered_json()},
                            {"shown", ordered_json()},  {"marks", ordered_json()}};
  if (!history.run()) return described;
  const RunView& run = *history.run();
  described["run"] = run.started ? to_json(*run.started) : ordered_json::object();
  described["run"]["run_id"] = hex(run.run_id);
  if (run.layout && run.layout != unnamed_results()) {  // those say nothing of the variables
    described["run"]["schema"] = variables_to_json(run.layout->schema());
    described["run"]["payload_bytes"] = run.layout->schema().payload_bytes();
  }
  if (run.ended) described["ended"] = to_json(*run.ended);
  if (const auto last = run.series.newest(1); !last.empty()) {
    described["last"] = to_json(last.front());
    described["last"]["results"] = ringside::to_json(run.last_results, kMostPlotted);
  }
  described["shown"] = shown_by(run);
  described["marks"] = to_json(run.marks);
  described["totals"] = totals_of(run);
  described["hand_off_ns"] = to_json(run.hand_off);
  described["ring"] = ring_of(run);
  return described;
}

ordered_json to_json(const std::vector<SeriesPoint>& points, std::span<const std::string> results) {
  ordered_json array = ordered_json::array();
  for (const SeriesPoint& point : points) {
    ordered_json& object = array.emplace_back(to_json(point));
    if (results.empty()) continue;
    ordered_json& values = object["values"] = ordered_json::array();
    for (const std::string& name : results) values.push_back(value_or_text(value_of(point, name)));
  }
  return array;
}

ordered_json to_json(const AnalysisSeries& analyses, std::span<const std::string> names, std::uint64_t from_seq) {
  ordered_json list = ordered_json::array();
  for (const std::string& name : names) {
    const auto found = analyses.courses().find(name);
    if (found == analyses.courses().end()) continue;
    ordered_json points = ordered_json::array();
    for (const CoursePoint& point : found->second.series.points()) {
      if (point.seq >= from_seq) points.push_back({point.seq, point.iteration, value_or_text(point.value)});
    }
    list.push_back({{"name", name}, {"points", std::move(points)}});
  }
  return list;
}

std::vector<std::string> analysis_names(const AnalysisSeries& analyses) {
  std::vector<std::string> names;
  for (const auto& [name, course] : analyses.courses()) names.push_back(name);
  return names;
}

std::vector<std::string> plotted_results(const RunView& run) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(run.last_results.size(), kMostPlotted); ++i) {
    names.push_back(run.last_results.name(i));
  }
  return names;
}

ordered_json course_to_json(const std::vector<CoursePoint>& points) {
  ordered_json list = ordered_json::array();
  for (const CoursePoint& point : points) {
    list.push_back({point.iteration, seconds(point.elapsed_ns), number_or_null(point.value)});
  }
  return list;
}

std::string dump(const ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace ringside
