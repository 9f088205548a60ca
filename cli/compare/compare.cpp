// SPDX-License-Identifier: BSD-3-Clause
// `ringside compare A B`: compares two or more runs, from their pools, journals or summaries.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/compare/comparison.hpp"
#include "cli/http/page_assets.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/run_text.hpp"
#include "common/files/output_file.hpp"
#include "common/files/standard_streams.hpp"
#include "common/options/command_line.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
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

/// The text of a comparison for the user: first the facts that differ, then residuals and times side by side, then
/// where the runs begin to differ and what could be checked.
std::string comparison_text(const Comparison& comparison) {
  std::string text = head(comparison) + facts_text(comparison) + residuals_text(comparison) + times_text(comparison);
  for (std::size_t i = 0; i < comparison.pairs.size(); ++i) {
    text += pair_text(comparison.pairs[i], letter(0), letter(i + 1));
  }
  return text;
}

constexpr int kMostRuns = 16;  // each run takes a letter, a column and a line in the chart

struct CompareOptions {
  std::vector<std::string> runs;
  std::vector<std::string> residuals;
  std::string result;
  std::vector<std::string> ignored;
  std::string output;
  bool json = false;
  bool expect_equal = false;
};

void declare_compare(CommandLine& line, CompareOptions& options) {
  line.option("RUN", options.runs,
              "pool, ranks file, journal or summary. A pool or a journal means its newest run; append @DIGITS to "
              "choose the run whose id begins with these digits")
      .required()
      .times(2, kMostRuns)
      .value_name("POOL|POOL@RUN_ID|SUMMARY.json");
  line.option("--residuals", options.residuals, "show when each run reached these residuals (default: powers of ten)")
      .value_name("R,...")
      .comma_separated();
  line.option("--result", options.result,
              "compare this result from step to step (default: the residual, or the change)")
      .value_name("NAME");
  line.flag("--expect-equal", options.expect_equal,
            "end with exit code 5 unless all iterates and records in both runs were compared and are equal");
  line.option("--ignore", options.ignored,
              "do not compare this result, such as a time that the solver publishes; may be repeated")
      .value_name("NAME");
  line.flag("--json", options.json, "print all findings as one JSON object");
  line.option("-o,--output", options.output, "write a page with charts (-: to standard output)")
      .value_name("FILE.html");
}

/// Refuses a result that no run has, because it must be a typing error. option: "--result".
void check_result(const char* option, const std::string& result, const std::vector<ComparedRun>& runs) {
  std::string names;
  for (const ComparedRun& run : runs) {
    if (run.steps.empty()) continue;
    const StepResults results = run.results(run.steps.back());
    if (!results.layout()) continue;
    if (results.layout()->find(result) != nullptr) return;
    if (!names.empty()) continue;
    for (std::size_t i = 0; i < results.size(); ++i) names += (i == 0 ? "" : ", ") + results.name(i);
  }
  throw usage_error("{}: found '{}', expected a result of the runs{}{}", option, shortened(result),
                    names.empty() ? ", which have none" : ": ", names);
}

std::vector<KeptFile> files_read(const std::vector<ComparedRun>& runs) {
  std::vector<KeptFile> kept;
  for (const ComparedRun& run : runs) {
    kept.push_back({"RUN", run.path});
    if (run.name != run.path) kept.push_back({"RUN", run.name});  // the ranks file that names the pool
  }
  return kept;
}

int compare_runs(const CompareOptions& options) {
  if (options.json && options.output == "-") {
    throw usage_error(
        "--json, --output -: found both, expected one of them, because standard output holds only one document");
  }
  std::vector<double> residuals = parse_residuals(options.residuals);
  std::vector<ComparedRun> runs;
  for (const std::string& name : options.runs) runs.push_back(ComparedRun::read(name, options.result));
  if (!options.result.empty()) check_result("--result", options.result, runs);
  for (const std::string& name : options.ignored) check_result("--ignore", name, runs);
  const std::vector<KeptFile> kept = files_read(runs);
  if (!options.output.empty()) {
    check_output(options.output, "--output", kept);
    refuse_other_endings(options.output, "--output", kPageEndings);
  }
  const Comparison comparison = compare(std::move(runs), std::move(residuals),
                                        {options.ignored.begin(), options.ignored.end()});
  Json object = to_json(comparison);
  if (!options.output.empty()) {
    object["written_s"] = seconds(realtime_ns());
    OutputFile file(options.output, "--output", kept);
    file.write(page_with_data("/compare.html", object));
    file.finish();
  }
  if (options.output != "-") {
    write_standard_output(options.json ? object.dump() + "\n" : comparison_text(comparison));
  }
  const bool fails = comparison.any_damage() || (options.expect_equal && !comparison.are_equal());
  return static_cast<int>(fails ? ExitCode::kDamaged : ExitCode::kDone);
}

}  // namespace

int compare_command(int argc, const char* const* argv) {
  CompareOptions options;
  CommandLine line(
      "Compares the first run with each of the others. Shows their settings, residuals and times side by side, and "
      "where iterates or records begin to differ. Also works while analyzers use the pools.",
      "ringside compare");
  declare_compare(line, options);
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  return compare_runs(options);
}

}  // namespace ringside
