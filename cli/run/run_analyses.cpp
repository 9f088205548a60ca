// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/run_analyses.hpp"

namespace ringside {
namespace {

// After the time limit of the analyses, their process has this time to end them and to write the journal.
constexpr double kEndingS = 30;

/// A path that cannot be mistaken for an option.
std::string as_argument(const std::string& path) {
  return path.starts_with('-') ? "./" + path : path;
}

std::vector<std::string> arguments_of(const CommandLine& line, const RunOptions& options, const std::string& socket,
                                      const CorePlan& cores) {
  std::vector<std::string> arguments = {"analyze", "--of-run=" + socket};
  for (const std::string& argument : line.arguments_given<AnalysisOptions>()) arguments.push_back(argument);
  if (!line.is_given("--analyze-cores")) {
    arguments.push_back("--analyze-cores=" + to_string(CoreList{cores.analyzer}));
    arguments.emplace_back("--lowest-priority");
  }
  arguments.push_back(as_argument(options.ring.pool));
  for (const std::string& file : options.analyze) arguments.push_back(as_argument(file));
  return arguments;
}

}  // namespace

void check_analyses(const RunOptions& options) {
  if (options.analyze.empty()) return;
  if (options.mode == Mode::kDram) {
    throw usage_error("--analyze: found with --mode dram, which keeps nothing to analyze; expected --mode pipeline");
  }
  if (!options.telemetry.on) {
    throw usage_error(
        "--analyze: found with --telemetry off, expected on, because results reach the analyzer through its control "
        "socket");
  }
}

RunAnalyses::RunAnalyses(const CommandLine& line, const RunOptions& options, const std::string& socket,
                         const CorePlan& cores, Supervisor& supervisor)
    : supervisor_(supervisor), timeout_s_(options.analysis.timeout_s) {
  if (options.analyze.empty()) return;
  process_.emplace(sibling("ringside"), arguments_of(line, options, socket, cores));
  supervisor_.watch_beside(*process_);
  is_ready_ = supervisor_.wait_until_beside_ready();
}

std::optional<ExitCode> RunAnalyses::refusal() const {
  if (!process_ || is_ready_) return std::nullopt;
  if (supervisor_.interrupted()) return ExitCode::kInterrupted;
  report_death("process of the analyses", *process_);
  return process_->exit_code() > 0 ? process_->verdict() : ExitCode::kSystem;
}

Json RunAnalyses::end() {
  Json none = Json::array();
  if (!process_) return none;
  supervisor_.end_beside(timeout_s_ + kEndingS);
  report_death("process of the analyses", *process_);
  const Json& figures = supervisor_.beside().figures;
  if (!figures.is_object() || !figures.contains("analyses")) return none;
  return figures.at("analyses");
}

}  // namespace ringside
