// SPDX-License-Identifier: BSD-3-Clause
// `ringside run --analyze`: the process of `ringside analyze` that accompanies a run. This process starts before the
// run and ends after it (docs/use/questions.md).
#pragma once

#include <optional>
#include <string>

#include "cli/run/run_options.hpp"
#include "cli/supervision/supervisor.hpp"
#include "common/json/json.hpp"
#include "common/program/topology.hpp"

namespace ringside {

/// Checks everything that can be checked before that process starts. Throws Error (exit code 2).
void check_analyses(const RunOptions& options);

class RunAnalyses {
 public:
  /// Starts the process if there are analyses, and waits until it has imported their files. socket: the socket of the
  /// run's analyzer.
  RunAnalyses(const CommandLine& line, const RunOptions& options, const std::string& socket, const CorePlan& cores,
              Supervisor& supervisor);

  /// The exit code if the run cannot begin; the reason was then printed. Empty if the run can begin.
  std::optional<ExitCode> refusal() const;

  /// After the run: lets the process analyze the steps that are still kept. Returns the outcome of each analysis: the
  /// value of the summary's key `analyses`.
  Json end();

 private:
  Supervisor& supervisor_;
  const double timeout_s_;
  std::optional<Child> process_;
  bool is_ready_ = false;
};

}  // namespace ringside
