// SPDX-License-Identifier: BSD-3-Clause
// `ringside calibrate`: measures this node and writes what is known of it to a file (docs/use/plan.md).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cli/node/calibration_line.hpp"
#include "cli/node/calibration_table.hpp"
#include "cli/subcommands.hpp"
#include "common/files/output_file.hpp"
#include "common/files/own_descriptor.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "common/program/stop_signal.hpp"
#include "common/program/topology.hpp"
#include "common/text/printable.hpp"
#include "node/calibration/calibration.hpp"
#include "node/file/matrix_file.hpp"
#include "node/file/node_file.hpp"
#include "node/file/node_place.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/solver/solver_table.hpp"

namespace ringside {
namespace {

constexpr const char* kUsualMatrix = "grid:2000";
constexpr double kLeastBudgetS = 1;
constexpr double kMostBudgetS = 86'400;

struct CalibrateOptions {
  std::vector<std::string> matrices;
  SolveOptions solve;  // but for the matrix
  std::vector<std::string> folders;
  std::string threads;
  double budget_s = kCalibrationBudgetS;
  bool quick = false;
  bool quiet = false;
  std::string output;
};

void declare_options(CommandLine& line, CalibrateOptions& options) {
  const std::vector<std::string> solvers = names_of(solver_choices());
  line.option("--matrix", options.matrices,
              fmt::format("what our kernels are measured on; may be given several times (default: {})", kUsualMatrix))
      .value_name("FILE|grid:SIDE|rmat:SCALE");
  line.option("--solver", options.solve.solver, "the solver whose iterations are measured")
      .check(one_of(solvers))
      .value_name(fmt::format("{}", fmt::join(solvers, "|")))
      .show_default();
  line.option("--memory", options.folders,
              "a folder that pools may lie in; may be given several times (default: the current one and /dev/shm)")
      .value_name("DIR");
  line.option("--threads", options.threads, "thread counts, such as 1-4,8 (default: 1, 2, 3, 4, 6, 8, 12 ... and all)")
      .value_name("LIST");
  line.option("--budget", options.budget_s, "seconds that the measurements may take")
      .check(number_within(kLeastBudgetS, kMostBudgetS))
      .value_name("S")
      .show_default();
  line.flag("--quick", options.quick, fmt::format("the same as --budget {:.0f}", kQuickCalibrationBudgetS));
  line.flag("--quiet", options.quiet, "neither progress nor the closing table");
  line.option("-o,--output", options.output,
              "file to write (default: node.json in the user's cache folder); -: to "
              "standard output")
      .value_name("FILE");
}

std::vector<SolveOptions> problems_of(const CalibrateOptions& options) {
  std::vector<SolveOptions> problems;
  for (const std::string& matrix : options.matrices) {
    problems.push_back(options.solve);
    problems.back().matrix = matrix;
  }
  return problems;
}

/// The files that the command reads, which its output must not replace.
std::vector<KeptFile> read_files(const CalibrateOptions& options) {
  std::vector<KeptFile> kept;
  for (const std::string& matrix : options.matrices) kept.push_back({"--matrix", named_input(matrix).path});
  return kept;
}

void refuse_matrices_given_twice(const std::vector<std::string>& matrices) {
  for (auto matrix = matrices.begin(); matrix != matrices.end(); ++matrix) {
    const std::optional<MatrixFile> file = matrix_file(*matrix);
    const bool twice = std::any_of(matrices.begin(), matrix, [&](const std::string& before) {
      return before == *matrix || (file && matrix_file(before) == file);
    });
    if (twice) throw usage_error("--matrix: found {} twice, expected each matrix once", printable(*matrix));
  }
}

void refuse_zero_threads(const std::vector<int>& threads) {
  if (threads.empty() || threads.front() > 0) return;
  throw usage_error("--threads: found 0, expected thread counts from 1, such as 1-4,8");
}

int calibrate_with(CalibrateOptions options) {
  if (options.matrices.empty()) options.matrices.emplace_back(kUsualMatrix);
  refuse_matrices_given_twice(options.matrices);
  const bool usual_place = options.output.empty();
  if (usual_place) {
    options.output = default_node_file();
    make_node_folder();
  }
  const std::vector<KeptFile> kept = read_files(options);
  check_output(options.output, "--output", kept);  // now, not after minutes

  CalibrationOptions calibration;
  calibration.problems = problems_of(options);
  calibration.folders = options.folders;
  if (!options.threads.empty()) calibration.threads = parse_core_list(options.threads, "--threads").cpus;
  refuse_zero_threads(calibration.threads);
  calibration.budget_s = options.quick ? kQuickCalibrationBudgetS : options.budget_s;
  calibration.stop = catch_stop_signals();
  CalibrationLine progress(!options.quiet);
  calibration.announce = [&](const CalibrationProgress& now) { progress.update(now); };
  const Node node = calibrate(calibration);
  progress.clear();

  const std::string text = node_text(node);
  OutputFile file(options.output, "--output", kept);
  file.write(text);
  file.finish();
  if (options.quiet) return 0;
  const std::string node_option = usual_place || options.output == "-" ? "" : " --node " + printable(options.output);
  write_beside_output(options.output,
                      fmt::format("{}written to {}; next: ringside plan --matrix {}{}\n", calibration_table(node),
                                  options.output == "-" ? "standard output" : printable(options.output),
                                  printable(options.matrices.front()), node_option));
  return 0;
}

}  // namespace

int calibrate_command(int argc, const char* const* argv) {
  CalibrateOptions options;
  CommandLine line(
      "Measures this node (memory, clock, our kernels alone and side by side, coordination), so that runs on it can be "
      "predicted.",
      "ringside calibrate");
  declare_options(line, options);
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  return calibrate_with(std::move(options));
}

}  // namespace ringside
