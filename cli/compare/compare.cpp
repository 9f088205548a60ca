// SPDX-License-Identifier: BSD-3-Clause
// `ringside compare A B`: compares two or more runs, from their pools, journals or summaries.
#include <string>
#include <vector>

#include "cli/compare/comparison.hpp"
#include "cli/compare/comparison_text.hpp"
#include "cli/http/page_assets.hpp"
#include "cli/subcommands.hpp"
#include "common/files/output_file.hpp"
#include "common/files/standard_streams.hpp"
#include "common/options/command_line.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

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
