// SPDX-License-Identifier: BSD-3-Clause
// `ringside calibrate`: measures this node and writes its figures to a file (docs/use/plan.md).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/node/planning.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/terminal_line.hpp"
#include "common/files/output_file.hpp"
#include "common/files/own_descriptor.hpp"
#include "common/files/standard_streams.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/options/options.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/program/stop_signal.hpp"
#include "common/program/topology.hpp"
#include "common/text/printable.hpp"
#include "node/calibration/calibration.hpp"
#include "node/file/matrix_file.hpp"
#include "node/file/node_file.hpp"
#include "node/file/node_place.hpp"
#include "node/file/node_words.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/solver/solver_table.hpp"

namespace ringside {
namespace {

constexpr const char* kUsualMatrix = "grid:2000";
constexpr double kLeastBudgetS = 1;
constexpr double kMostBudgetS = 86'400;

struct CalibrateOptions {
  std::vector<std::string> matrices;
  SolveOptions solve;  // the solver's options, except the matrix
  std::vector<std::string> folders;
  std::string threads;
  double budget_s = kCalibrationBudgetS;
  bool quick = false;
  bool quiet = false;
  std::string output;
};

void declare_options(CommandLine& line, CalibrateOptions& options) {
  const std::vector<std::string> solvers = names_of(solver_choices());
  line.option(
          "--matrix", options.matrices,
          fmt::format("matrix on which kernels are measured; may be given several times (default: {})", kUsualMatrix))
      .value_name("FILE|grid:SIDE|rmat:SCALE");
  line.option("--solver", options.solve.solver, "the solver whose iterations are measured")
      .check(one_of(solvers))
      .value_name(fmt::format("{}", fmt::join(solvers, "|")))
      .show_default();
  line.option("--memory", options.folders,
              "measure the storage of this folder, as a place for pools; may be given several times (default: the "
              "current folder and /dev/shm)")
      .value_name("DIR");
  line.option("--threads", options.threads, "thread counts, such as 1-4,8 (default: 1, 2, 3, 4, 6, 8, 12 ... and all)")
      .value_name("LIST");
  line.option("--budget", options.budget_s, "seconds that the measurements may take")
      .check(number_within(kLeastBudgetS, kMostBudgetS))
      .value_name("S")
      .show_default();
  line.flag("--quick", options.quick, fmt::format("the same as --budget {:.0f}", kQuickCalibrationBudgetS));
  line.flag("--quiet", options.quiet, "print neither progress nor the closing table");
  line.option("-o,--output", options.output,
              "file to write (default: node.json in the user's cache folder; -: standard output)")
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

/// The files that the command reads. Its output must not replace them.
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

/// The progress line: the share of finished work, the present measurement, and the time left. On a terminal it is
/// redrawn in place; otherwise a new line appears every ten seconds.
class CalibrationLine {
 public:
  /// Writes to standard error. If `shown` is false, writes nothing.
  explicit CalibrationLine(bool shown) : shown_(shown) {}

  void update(const CalibrationProgress& progress) {
    constexpr std::int64_t kRedrawNs = 200'000'000;
    constexpr std::int64_t kNextLineNs = 10'000'000'000;
    if (!shown_) return;
    const std::int64_t now = now_ns();
    if (drawn_at_ns_ != 0 && now - drawn_at_ns_ < (terminal_.on_terminal() ? kRedrawNs : kNextLineNs)) return;
    drawn_at_ns_ = now;
    const std::string text =
        fmt::format("calibrating {:2.0f} %  ETA {:.0f} s  {}", 100 * progress.done, progress.left_s, progress.what);
    if (terminal_.on_terminal()) {
      terminal_.show(text);
    } else {
      write_standard_error(text + "\n");
    }
  }

  /// Removes the line from the terminal, so that other text can be printed.
  void clear() { terminal_.clear(); }

 private:
  bool shown_;
  TerminalLine terminal_;
  std::int64_t drawn_at_ns_ = 0;
};

const Series* stream_of(const Node& node, const std::string& tier, const char* kernel) {
  for (const StreamFigures& streams : node.streams) {
    if (streams.tier == tier && streams.kernel == kernel) return &streams.gb_s;
  }
  return nullptr;
}

/// "30.1 / 36.0": the figure for the fewest threads and that for the most threads.
std::string ends_of(const Series* series, double unit, int digits) {
  if (series == nullptr || series->points.empty()) return "n/a";
  const double first = series->points.front().figure.value * unit;
  const double last = series->points.back().figure.value * unit;
  return fmt::format("{:.{}f} / {:.{}f}", first, digits, last, digits);
}

std::string microseconds(const std::optional<Measured>& cost) {
  return cost ? fmt::format("{:.1f} us", cost->value * 1e6) : "n/a";
}

std::string tier_lines(const Node& node) {
  std::string text = fmt::format("  {:<28}{:<12}{:>16}{:>16}{:>18}\n", "GB/s with 1 / all threads", "", "read", "copy",
                                 "copy past cache");
  for (const Tier& tier : node.tiers) {
    text += fmt::format("  {:<28}{:<12}{:>16}{:>16}{:>18}\n", printable(tier.name), to_string(tier.kind),
                        ends_of(stream_of(node, tier.name, "read"), 1, 1),
                        ends_of(stream_of(node, tier.name, "copy"), 1, 1),
                        ends_of(stream_of(node, tier.name, "copy_nontemporal"), 1, 1));
  }
  return text;
}

const Series* kernel_of(const Node& node, const ProblemSize& problem, const std::string& tier, bool synced,
                        KernelKind kind) {
  for (const KernelFigures& kernel : node.kernels) {
    if (kernel.kernel == kind && kernel.tier == tier && kernel.synced == synced &&
        kernel.problem.matrix == problem.matrix) {
      return &kernel.seconds;
    }
  }
  return nullptr;
}

/// One line for each combination of a memory in which the slots may be and of writing with or without sync.
std::string problem_lines(const Node& node, const ProblemSize& problem) {
  std::string text =
      fmt::format("  {}: {} rows, {} entries; generate {} ms\n", printable(problem.matrix),
                  with_separators(problem.rows), with_separators(problem.nonzeros),
                  ends_of(kernel_of(node, problem, node.tiers.front().name, false, KernelKind::kGenerate), 1e3, 2));
  text +=
      fmt::format("  {:<40}{:>16}{:>16}{:>18}\n", "  ms with 1 / all threads", "transfer", "and reduced", "analyze");
  for (const Tier& tier : node.tiers) {
    for (const bool synced : {false, true}) {
      const auto of = [&](KernelKind kind) { return kernel_of(node, problem, tier.name, synced, kind); };
      if (of(KernelKind::kTransfer) == nullptr) continue;
      text += fmt::format("  {:<40}{:>16}{:>16}{:>18}\n",
                          fmt::format("  {}{}", printable(tier.name), synced ? ", synced" : ""),
                          ends_of(of(KernelKind::kTransfer), 1e3, 2), ends_of(of(KernelKind::kTransferReduced), 1e3, 2),
                          ends_of(of(KernelKind::kAnalyze), 1e3, 2));
    }
  }
  return text;
}

/// The command's closing text: the figures with one thread and with the most threads, and the remarks.
std::string calibration_table(const Node& node) {
  std::string text = fmt::format("ringside calibrate: {}\n", node.name);
  text += tier_lines(node);
  for (const KernelFigures& kernel : node.kernels) {
    if (kernel.kernel == KernelKind::kGenerate) text += problem_lines(node, kernel.problem);
  }
  text += fmt::format("  hand-off {}, wake-up {}, loan {}, barrier {}\n", microseconds(node.costs.hand_off_s),
                      microseconds(node.costs.wake_up_s), microseconds(node.costs.loan_s),
                      microseconds(node.costs.barrier_s));
  for (const std::string& remark : node.remarks) text += fmt::format("  note: {}\n", remark);
  return text;
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
  check_output(options.output, "--output", kept);  // checked before the measurement, which takes minutes

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
  write_beside_output(
      options.output,
      fmt::format("{}written to {}; next: ringside plan --matrix {}{}{}\n", calibration_table(node),
                  options.output == "-" ? "standard output" : printable(options.output),
                  printable(options.matrices.front()), solver_words(options.solve.solver), node_option));
  return 0;
}

}  // namespace

int calibrate_command(int argc, const char* const* argv) {
  CalibrateOptions options;
  CommandLine line(
      "Measures the memory, the clock, the kernels and the coordination of this node, so that runs on it can be "
      "predicted.",
      "ringside calibrate");
  declare_options(line, options);
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  return calibrate_with(std::move(options));
}

}  // namespace ringside
