// SPDX-License-Identifier: BSD-3-Clause
#include "cli/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>

#include "cli/run_history/history_json.hpp"
#include "common/platform/error.hpp"
#include "common/platform/version.hpp"
#include "common/records/shown_results.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json to_json(const RunTimes& times) {
  Json object;
  for (const RunTime& time : kRunTimes) object[time.key] = or_null(times.*time.seconds);
  object["producer_idle_share"] = or_null(times.producer_idle_share());
  object["analyzer_idle_share"] = or_null(times.analyzer_idle_share());
  return object;
}

Json to_json(const ComparedRun& run) {
  Json object = {{"source", run.name},
                 {"kind", run.kind},
                 {"run_id", text_or_null(run.run_id)},
                 {"started", text_or_null(run.started)},
                 {"state", text_or_null(run.state)},
                 {"iterations", or_null(run.iterations)},
                 {"steps", run.steps.size()},
                 {"facts", Json::object()},
                 {"times", to_json(run.times)},
                 {"course", text_or_null(run.course.course)},
                 {"course_is_change", run.course.is_change},
                 {"last", number_or_null(run.last_value)},
                 {"series", course_to_json(run.series)},
                 {"notices", run.notices}};
  for (const RunFact& fact : run.facts) object["facts"][fact.group][fact.name] = fact.value;
  return object;
}

Json to_json(const FirstDifference& value) {
  const ValueDistance& distance = value.distance;
  return {{"variable", value.variable},
          {"entry", value.entry},
          {"index", value.index},
          {"first", value.first},
          {"second", value.second},
          {"distance", or_null(distance.amount)},
          {"distance_unit", distance.in_ulps ? "ulps" : "difference"},
          {"part", text_or_null(distance.part)},
          {"entries_differing", value.entries_differing},
          {"entries", value.entries},
          {"variables_differing", value.variables}};
}

Json to_json(const std::optional<Difference>& difference) {
  if (!difference) return {};
  if (difference->kind == Difference::Kind::kIterate) {
    Json object = {{"kind", "iterate"}, {"iteration", difference->iteration}};
    object.update(to_json(difference->value));
    return object;
  }
  Json object = {{"kind", "record"}, {"iteration", difference->iteration}, {"results", Json::array()}};
  for (const DifferingResult& result : difference->results) {
    object["results"].push_back(
        {{"name", result.name}, {"first", result.first}, {"second", result.second}, {"ulps", or_null(result.ulps)}});
  }
  return object;
}

Json to_json(const PairComparison& pair, const ComparedRun& first, const ComparedRun& second) {
  Json object = {{"first_run", first.name},
                 {"second_run", second.name},
                 {"equal", pair.are_equal()},
                 {"first_difference", to_json(pair.first)},
                 {"first_iterate_difference", to_json(pair.first_iterate)},
                 {"first_record_difference", to_json(pair.first_record)},
                 {"equal_ranges", Json::array()},
                 {"iterations_common", pair.common},
                 {"iterations_only_first", pair.only_first},
                 {"iterations_only_second", pair.only_second},
                 {"records_differing", pair.records_differing},
                 {"iterates_compared", pair.iterates_compared},
                 {"iterates_differing", pair.iterates_differing},
                 {"same_variables", pair.same_variables},
                 {"overwritten", pair.overwritten},
                 {"damaged_first", pair.damaged_first},
                 {"damaged_second", pair.damaged_second},
                 {"iterates_not_compared", text_or_null(pair.iterates_not_compared)},
                 {"records_not_compared", text_or_null(pair.records_not_compared)}};
  for (const EqualRange& range : pair.equal) {
    object["equal_ranges"].push_back({{"first_iteration", range.first},
                                      {"last_iteration", range.last},
                                      {"steps", range.steps},
                                      {"by", range.iterates ? "iterates" : "records"}});
  }
  return object;
}

/// At most eight of the powers of ten that the runs reached, evenly chosen; empty if no course has positive values.
std::vector<double> default_residuals(const std::vector<ComparedRun>& runs) {
  constexpr int kMost = 8;
  double highest = 0;
  double lowest = 0;
  for (const ComparedRun& run : runs) {
    for (const ComparedStep& step : run.steps) {
      const double value = step.point.value;
      if (!std::isfinite(value) || value <= 0) continue;
      highest = std::max(highest, value);
      lowest = lowest == 0 ? value : std::min(lowest, value);
    }
  }
  if (lowest == 0) return {};
  std::vector<double> decades;
  const int first = static_cast<int>(std::floor(std::log10(highest)));
  const int last = static_cast<int>(std::ceil(std::log10(lowest)));
  const int each = std::max(1, (first - last + kMost) / kMost);
  for (int power = last; power <= first; power += each) decades.push_back(std::pow(10.0, power));
  std::reverse(decades.begin(), decades.end());
  return decades;
}

}  // namespace

std::vector<double> parse_residuals(const std::vector<std::string>& texts) {
  std::vector<double> residuals;
  for (const std::string& text : texts) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool is_number =
        !text.empty() && end == text.c_str() + text.size() && text.find_first_of(" \tx") == text.npos;
    if (!is_number || !std::isfinite(value) || value <= 0) {
      throw usage_error("--residuals: found '{}', expected positive numbers such as 1e-3,1e-6", shortened(text));
    }
    residuals.push_back(value);
  }
  std::sort(residuals.begin(), residuals.end(), std::greater<>());
  residuals.erase(std::unique(residuals.begin(), residuals.end()), residuals.end());
  return residuals;
}

std::optional<CoursePoint> reached(const ComparedRun& run, double residual) {
  const auto found = std::find_if(run.steps.begin(), run.steps.end(),
                                  [residual](const ComparedStep& step) { return step.point.value <= residual; });
  return found == run.steps.end() ? std::nullopt : std::optional(found->point);
}

std::optional<bool> Comparison::same_problem() const {
  std::vector<std::string> ids;
  for (const ComparedRun& run : runs) {
    const Json* const id = find_fact(run.facts, "problem_id");
    if (id != nullptr && id->is_string()) ids.push_back(id->get<std::string>());
  }
  if (ids.size() < 2) return std::nullopt;
  return std::all_of(ids.begin(), ids.end(), [&ids](const std::string& id) { return id == ids.front(); });
}

bool Comparison::any_damage() const {
  return std::any_of(runs.begin(), runs.end(), [](const ComparedRun& run) { return run.damaged; }) ||
         std::any_of(pairs.begin(), pairs.end(), [](const PairComparison& pair) { return pair.any_damage(); });
}

bool Comparison::are_equal() const {
  return std::all_of(pairs.begin(), pairs.end(), [](const PairComparison& pair) { return pair.are_equal(); });
}

Comparison compare(std::vector<ComparedRun> runs, std::vector<double> residuals, const std::set<std::string>& ignored) {
  Comparison comparison;
  std::vector<std::vector<RunFact>> facts;
  for (const ComparedRun& run : runs) facts.push_back(run.facts);
  comparison.facts = compare_facts(facts);
  comparison.residuals = residuals.empty() ? default_residuals(runs) : std::move(residuals);
  for (std::size_t i = 1; i < runs.size(); ++i) comparison.pairs.push_back(compare_pair(runs[0], runs[i], ignored));
  comparison.runs = std::move(runs);
  return comparison;
}

std::string letter(std::size_t run) {
  return std::string(1, static_cast<char>('A' + run));
}

Json to_json(const Comparison& comparison) {
  Json object = {{"version", version()},
                 {"same_problem", or_null(comparison.same_problem())},
                 {"equal", comparison.are_equal()},
                 {"runs", Json::array()},
                 {"facts_differing", Json::array()},
                 {"facts_equal", comparison.facts.equal},
                 {"facts_of_one_run", comparison.facts.single},
                 {"residuals", Json::array()},
                 {"pairs", Json::array()}};
  for (const ComparedRun& run : comparison.runs) object["runs"].push_back(to_json(run));
  for (const DifferingFact& fact : comparison.facts.differing) {
    object["facts_differing"].push_back({{"group", fact.group}, {"name", fact.name}, {"values", fact.values}});
  }
  for (const double residual : comparison.residuals) {
    Json row = {{"residual", residual}, {"reached", Json::array()}};
    for (const ComparedRun& run : comparison.runs) {
      const std::optional<CoursePoint> point = reached(run, residual);
      row["reached"].push_back(
          point ? Json({{"iteration", point->iteration}, {"seconds", static_cast<double>(point->elapsed_ns) * 1e-9}})
                : Json());
    }
    object["residuals"].push_back(std::move(row));
  }
  for (std::size_t i = 0; i < comparison.pairs.size(); ++i) {
    object["pairs"].push_back(to_json(comparison.pairs[i], comparison.runs[0], comparison.runs[i + 1]));
  }
  return object;
}

}  // namespace ringside
