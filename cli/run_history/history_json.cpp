// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_history/history_json.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/platform/clock.hpp"
#include "common/program/schema_json.hpp"
#include "common/records/result_names.hpp"
#include "common/records/shown_results.hpp"

namespace ringside {
namespace {

Json to_json(const wire::PlannedStep& planned) {
  return {{"step_ns", planned.step_ns()},
          {"low_ns", planned.low_ns()},
          {"high_ns", planned.high_ns()},
          {"producer_idle_ns", planned.producer_idle_ns()},
          {"analyzer_idle_ns", planned.analyzer_idle_ns()}};
}

Json plug_ins_of(const wire::RunStarted& run) {
  Json list = Json::array();
  for (const wire::PlugIn& plug_in : run.plug_ins()) {
    list.push_back({{"name", plug_in.name()},
                    {"spec", plug_in.spec()},
                    {"deaths", plug_in.deaths()},
                    {"left_out", plug_in.left_out()}});
  }
  return list;
}

Json to_json(const wire::RunStarted& run) {
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
          {"planned", run.has_planned() ? to_json(run.planned()) : Json()},
          {"plug_ins", plug_ins_of(run)}};
}

Json to_json(const RunMark& mark) {
  return {{"seq", mark.seq},     {"at_s", seconds(mark.unix_ns)},
          {"step", mark.step},   {"iteration", mark.iteration},
          {"cause", mark.cause}, {"name", mark.name},
          {"text", mark.text},   {"actions", mark.actions}};
}

Json to_json(const RunMarks& marks) {
  Json list = Json::array();
  for (const RunMark& mark : marks.kept()) list.push_back(to_json(mark));
  return {{"count", marks.count()}, {"list", list}};
}

Json to_json(const wire::RunEnded& end) {
  return {{"how", end.how()},
          {"outcome", end.outcome()},
          {"steps_committed", end.steps_committed()},
          {"steps_persisted", end.steps_persisted()},
          {"last_iteration", end.last_iteration()},
          {"exit_code", end.exit_code()},
          {"text", end.text()}};
}

Json to_json(const ReductionScalars& r) {
  const auto change = [&r](double value) { return r.has_change ? Json(value) : Json(); };
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

Json to_json(const SeriesPoint& p) {
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
          {"record_ns", p.record_ns},
          {"hand_off_max_ns", p.hand_off_max_ns},
          {"bytes_transferred", p.bytes_transferred},
          {"skipped", p.skipped},
          {"rebuilt", p.rebuilt},
          {"residual_l1", number_or_null(p.shown.residual_l1)},
          {"residual_linf", number_or_null(p.shown.residual_linf)},
          {"reductions", p.shown.reductions ? to_json(*p.shown.reductions) : Json()},
          {"course", number_or_null(p.shown.course)},
          {"course_linf", number_or_null(p.shown.course_linf)}};
}

/// {name: the number of steps that the analysis had to skip}
Json analyses_of(const AnalysisSeries& analyses) {
  Json object = Json::object();
  for (const auto& [name, course] : analyses.courses()) object[name] = course.skipped;
  return object;
}

/// {name: unit} for those plotted results whose unit is not "1".
Json units_of(const RunView& run) {
  Json object = Json::object();
  if (!run.layout) return object;
  for (const std::string& name : plotted_results(run)) {
    const RecordedResult* recorded = run.layout->find(name);
    if (recorded != nullptr && !recorded->result->unit.empty() && recorded->result->unit != "1") {
      object[name] = recorded->result->unit;
    }
  }
  return object;
}

/// A result's value: null if the result is absent, a text if the value is not a finite number.
Json value_or_text(const std::optional<double>& value) {
  if (!value || std::isfinite(*value)) return number_or_null(value);
  return std::isnan(*value) ? "NaN" : *value > 0 ? "inf" : "-inf";
}

/// The names that a page needs if it cannot show all results of a run: the names of the results that make the run's
/// course, and of the results from which the user can choose.
Json shown_by(const RunView& run) {
  const ShownNames names = shown_names(run.last_results);
  const Variable* field = run.layout ? first_field(run.layout->schema()) : nullptr;
  return {{"field", field != nullptr ? Json(field->name) : Json()},
          {"course", names.course},
          {"course_linf", names.course_linf},
          {"is_change", names.is_change},
          {"results", plotted_results(run)},
          {"analyses", analyses_of(run.analyses)},
          {"units", units_of(run)},
          {"results_left_out", run.last_results.size() - std::min(run.last_results.size(), kMostPlotted)}};
}

Json totals_of(const RunView& run) {
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
          {"record_ns", sums.record_ns},
          {"bytes_transferred", sums.bytes_transferred},
          {"rebuilt", sums.rebuilt},
          {"records_missing", sums.records_missing}};
}

Json to_json(const HandOffTimes& times) {
  return {{"count", times.count()},
          {"p50", times.percentile(0.5)},
          {"p90", times.percentile(0.9)},
          {"p99", times.percentile(0.99)},
          {"max", times.max()}};
}

/// The newest commits, as many as the ring has slots, from the oldest to the newest. A ring without damage contains
/// these commits.
Json ring_of(const RunView& run) {
  constexpr std::size_t kMostSlots = StepSeries::kExact;  // older steps are kept only in groups
  if (!run.started) return {};
  const std::uint64_t slots = run.started->slots();
  Json kept = Json::array();
  for (const SeriesPoint& p : run.series.newest(std::min<std::size_t>(slots, kMostSlots))) {
    kept.push_back({{"iteration", p.iteration},
                    {"commit_seq", p.commit_seq},
                    {"persisted", p.steps_committed > 0 && p.steps_committed <= run.steps_persisted}});
  }
  return {{"slots", slots},
          {"used", std::min<std::uint64_t>(slots, run.last.commit_seq())},
          {"newest", kept},
          {"frozen_at_iteration", run.frozen_at_iteration ? Json(*run.frozen_at_iteration) : Json()},
          {"guarded_commit_seq", run.last.guarded_commit_seq()}};
}

}  // namespace

Json describe(const RunHistory& history) {
  Json described = {{"run", Json()},         {"ended", Json()}, {"last", Json()},  {"totals", Json()},
                    {"hand_off_ns", Json()}, {"ring", Json()},  {"shown", Json()}, {"marks", Json()}};
  if (!history.run()) return described;
  const RunView& run = *history.run();
  described["run"] = run.started ? to_json(*run.started) : Json::object();
  described["run"]["run_id"] = hex(run.run_id);
  if (run.layout && run.layout != unnamed_results()) {  // the layout of unnamed results does not describe the variables
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

Json to_json(const std::vector<SeriesPoint>& points, std::span<const std::string> results) {
  Json array = Json::array();
  for (const SeriesPoint& point : points) {
    Json& object = array.emplace_back(to_json(point));
    if (results.empty()) continue;
    Json& values = object["values"] = Json::array();
    for (const std::string& name : results) values.push_back(value_or_text(value_of(point, name)));
  }
  return array;
}

Json to_json(const AnalysisSeries& analyses, std::span<const std::string> names, std::uint64_t from_seq) {
  Json list = Json::array();
  for (const std::string& name : names) {
    const auto found = analyses.courses().find(name);
    if (found == analyses.courses().end()) continue;
    Json points = Json::array();
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

Json course_to_json(const std::vector<CoursePoint>& points) {
  Json list = Json::array();
  for (const CoursePoint& point : points) {
    list.push_back({point.iteration, seconds(point.elapsed_ns), number_or_null(point.value)});
  }
  return list;
}

std::string dump(const Json& object) {
  return object.dump();
}

}  // namespace ringside
