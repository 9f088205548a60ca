// SPDX-License-Identifier: BSD-3-Clause
#include "cli/compare/comparison_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <span>

#include "cli/terminal/format.hpp"
#include "cli/terminal/run_text.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

using Row = std::vector<std::string>;

constexpr std::size_t kMostCell = 36;
constexpr std::size_t kMostResults = 4;         // the most results shown for a record that differs; --json has all
constexpr std::uint64_t kMostUlps = 1'000'000;  // distances up to this are shown in ulps; above, both values

std::string cell_of(const Json& value) {
  if (value.is_null()) return "-";
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return printable(text.size() <= kMostCell ? text : text.substr(0, kMostCell - 3) + "...");
}

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? run_time(*seconds, *seconds) : "-";
}

std::string percent_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

Row letters(const Comparison& comparison, const std::string& title) {
  Row row = {title};
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) row.push_back(letter(i));
  return row;
}

std::string head(const Comparison& comparison) {
  const std::optional<bool> same = comparison.same_problem();
  const std::size_t runs = comparison.runs.size();
  std::string text =
      !same   ? fmt::format("ringside compare: {} runs; their files do not show whether their problems are the same\n",
                            runs)
      : *same ? fmt::format("ringside compare: {} runs of the same problem\n", runs)
              : fmt::format("ringside compare: {} runs of DIFFERENT PROBLEMS\n", runs);
  for (std::size_t i = 0; i < runs; ++i) {
    const ComparedRun& run = comparison.runs[i];
    const auto fact = [&run](const char* name) {
      const Json* const value = find_fact(run.facts, name);
      return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
    };
    std::vector<std::string> words = {problem_text(fact("solver"), fact("matrix"), "")};
    if (!run.run_id.empty()) words.push_back("run " + run.run_id.substr(0, 8));
    if (!run.started.empty()) words.push_back("started " + run.started);
    if (run.iterations) words.push_back(counted(*run.iterations, "iteration"));
    if (!run.state.empty()) words.push_back(run.state);
    std::erase(words, "");
    text += fmt::format("  {}  {}: {}\n", letter(i), printable(run.name), fmt::join(words, ", "));
    for (const std::string& notice : run.notices) text += fmt::format("     {}\n", printable(notice));
  }
  return text;
}

std::string facts_text(const Comparison& comparison) {
  const FactComparison& facts = comparison.facts;
  const std::string rest = fmt::format(
      "{} equal{}", facts.equal, facts.single > 0 ? fmt::format(", {} known for one run only", facts.single) : "");
  if (facts.differing.empty()) return fmt::format("\nNo setting differs ({}).\n", rest);
  std::vector<Row> rows = {letters(comparison, fmt::format("differs ({})", rest))};
  for (const DifferingFact& fact : facts.differing) {
    Row& row = rows.emplace_back(Row{fact.group + " " + fact.name});
    for (const Json& value : fact.values) row.push_back(cell_of(value));
  }
  return "\n" + columns_text(rows, {true});
}

/// The name of the runs' course; a general name if the courses have different names.
std::string course_name(const Comparison& comparison) {
  std::string name;
  for (const ComparedRun& run : comparison.runs) {
    if (run.course.course.empty()) continue;
    if (!name.empty() && name != run.course.course) return "the residual of each";
    name = run.course.course;
  }
  return name;
}

std::string residuals_text(const Comparison& comparison) {
  if (course_name(comparison).empty()) return {};
  std::vector<Row> rows = {letters(comparison, course_name(comparison))};
  for (const double residual : comparison.residuals) {
    Row& row = rows.emplace_back(Row{fmt::format("to {:.3g}", residual)});
    for (const ComparedRun& run : comparison.runs) {
      const std::optional<CoursePoint> point = reached(run, residual);
      row.push_back(point ? fmt::format("{}, {}", counted(point->iteration, "iteration"), duration_text(point->elapsed_ns))
                          : "-");
    }
  }
  Row& last = rows.emplace_back(Row{"at the end"});
  for (const ComparedRun& run : comparison.runs) last.push_back(run.last_value ? fmt::format("{:.4g}", *run.last_value) : "-");
  return "\n" + columns_text(rows, {true});
}

std::string times_text(const Comparison& comparison) {
  std::vector<Row> rows = {letters(comparison, "times")};
  const auto add = [&](const char* name, const std::function<std::string(const RunTimes&)>& cell) {
    Row& row = rows.emplace_back(Row{name});
    for (const ComparedRun& run : comparison.runs) row.push_back(cell(run.times));
  };
  const auto add_time = [&](const RunTime& time) {
    add(time.name, [&](const RunTimes& times) { return seconds_text(times.*time.seconds); });
  };
  for (const RunTime& time : std::span(kRunTimes).subspan(1)) add_time(time);
  add_time(kRunTimes[0]);  // the total is the last line
  add("producer idle", [](const RunTimes& times) { return percent_text(times.producer_idle_share()); });
  add("analyzer idle", [](const RunTimes& times) { return percent_text(times.analyzer_idle_share()); });
  return "\n" + columns_text(rows, {true});
}

/// "3, 5, 6": iterations, at most eight.
std::string listed(const std::vector<std::uint64_t>& iterations) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(iterations.size(), kMost); ++i) texts.push_back(with_separators(iterations[i]));
  if (iterations.size() > kMost) texts.push_back(fmt::format("and {} more", iterations.size() - kMost));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// "iterations 1 to 92: records equal; 93 to 100: iterates equal bit for bit"; empty if nothing is equal.
std::string equal_text(const PairComparison& pair) {
  std::vector<std::string> parts;
  for (const EqualRange& range : pair.equal) {
    const std::string which = range.first == range.last
                                  ? fmt::format("{}", with_separators(range.first))
                                  : fmt::format("{} to {}", with_separators(range.first), with_separators(range.last));
    const bool has_gaps = range.steps != range.last - range.first + 1;
    parts.push_back(fmt::format("{}{}{}: {}",
                                parts.empty() ? range.first == range.last ? "iteration " : "iterations " : "", which,
                                has_gaps ? fmt::format(" ({})", counted(range.steps, "step")) : "",
                                range.iterates ? "iterates equal bit for bit" : "records equal"));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// "iteration 93: x[17] is 0.1 in A and 0.30000000000000004 in B, 1 ulp; 1 of 2,500 values differs"
std::string difference_text(const Difference& difference, const std::string& first, const std::string& second) {
  const std::string iteration = with_separators(difference.iteration);
  if (difference.kind == Difference::Kind::kIterate) {
    const FirstDifference& value = difference.value;
    const std::string variables =
        value.variables.size() > 1 ? fmt::format(", in {}", fmt::join(value.variables, ", ")) : "";
    return fmt::format("iteration {}: {} is {} in {} and {} in {}, {}; {} of {} differ{}{}", iteration,
                       place_text(value), value.first, first, value.second, second, to_text(value.distance),
                       with_separators(value.entries_differing), counted(value.entries, "value"),
                       value.entries_differing == 1 ? "s" : "", variables);
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(difference.results.size(), kMostResults); ++i) {
    const DifferingResult& result = difference.results[i];
    texts.push_back(fmt::format("{} is {} in {} and {} in {}{}", result.name, result.first, first, result.second,
                                second,
                                result.ulps && *result.ulps <= kMostUlps
                                    ? fmt::format(" ({})", to_text(ValueDistance{false, result.ulps, true, {}}))
                                    : ""));
  }
  if (difference.results.size() > kMostResults) {
    texts.push_back(fmt::format("{} more results differ", difference.results.size() - kMostResults));
  }
  return fmt::format("the record of iteration {}: {}", iteration, fmt::join(texts, "; "));
}

std::string pair_text(const PairComparison& pair, const std::string& a, const std::string& b) {
  std::vector<std::string> lines;
  const bool nothing = pair.equal.empty() && !pair.first;
  if (nothing) {
    lines.push_back("nothing could be compared step by step");
  } else if (pair.first) {
    lines.push_back("first difference: " + difference_text(*pair.first, a, b));
  } else {
    lines.push_back("no difference in " + counted(pair.common, "common iteration"));
  }
  if (!nothing && !pair.first && !pair.are_equal()) {
    lines.push_back(!pair.same_variables       ? "NOT EQUAL: their variables differ"
                    : !pair.overwritten.empty() ? "not known to be equal: an iterate was overwritten while it was read"
                                                : "NOT EQUAL: an iterate is damaged");
  }
  if (const std::string equal = equal_text(pair); !equal.empty()) lines.push_back("checked: " + equal);
  const bool other_iterate = pair.first_iterate && pair.first && pair.first->kind == Difference::Kind::kRecord;
  if (other_iterate) {
    lines.push_back("the first difference between iterates that both keep: " +
                    difference_text(*pair.first_iterate, a, b));
  }
  if (pair.first) {
    lines.push_back(fmt::format("in all {} differ{}", counted(pair.records_differing, "record"),
                                pair.iterates_compared == 0
                                    ? ""
                                    : fmt::format(", and {} of the {} iterates that both keep", pair.iterates_differing,
                                                  pair.iterates_compared)));
  }
  if (pair.common > 0 && pair.only_first + pair.only_second > 0) {
    lines.push_back(fmt::format("iterations that only one of them has: {} in {}, {} in {}",
                                with_separators(pair.only_first), a, with_separators(pair.only_second), b));
  }
  if (!pair.overwritten.empty()) {
    lines.push_back("overwritten while they were read (an analyzer is at work): iterates " + listed(pair.overwritten));
  }
  if (!pair.damaged_first.empty()) lines.push_back(fmt::format("DAMAGED in {}: iterates {}", a, listed(pair.damaged_first)));
  if (!pair.damaged_second.empty()) lines.push_back(fmt::format("DAMAGED in {}: iterates {}", b, listed(pair.damaged_second)));
  for (const auto& [what, why] : {std::pair{"iterates", pair.iterates_not_compared}, {"records", pair.records_not_compared}}) {
    if (!why.empty()) lines.push_back(fmt::format("{} were not compared: {}", what, printable(why)));
  }
  std::string text = fmt::format("\n  {} and {}\n", a, b);
  for (const std::string& line : lines) text += "    " + line + "\n";
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text = head(comparison) + facts_text(comparison) + residuals_text(comparison) + times_text(comparison);
  for (std::size_t i = 0; i < comparison.pairs.size(); ++i) {
    text += pair_text(comparison.pairs[i], letter(0), letter(i + 1));
  }
  return text;
}

}  // namespace ringside
