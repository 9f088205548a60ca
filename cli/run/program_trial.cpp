// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/program_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "cli/run/program_options.hpp"
#include "cli/supervision/program_end.hpp"
#include "cli/supervision/program_supervisor.hpp"
#include "cli/supervision/runtime_folder.hpp"
#include "cli/terminal/format.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/text/printable.hpp"
#include "node/applications/work_folder.hpp"
#include "node/plan/trials.hpp"

namespace ringside {
namespace {

/// The value below which this share of the values is. `values` must not be empty.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

/// Triggers, the journal's options and telemetry are left out: their sockets, files and actions are the run's. So are
/// the warnings about the place of the pool.
std::vector<std::string> trial_arguments(const CommandLine& line, const RunOptions& options, const std::string& socket,
                                         const CorePlan& cores) {
  std::vector<std::string> arguments = line.arguments_given<RingOptions, ReduceOptions, PlugInOptions, PeerOptions>();
  arguments.insert(arguments.end(), {"--trial", "--telemetry=off", "--log-level=error"});
  complete_analyzer_arguments(arguments, options, socket, cores);
  return arguments;
}

std::vector<PlainStep> recorded_steps(const std::string& pool) {
  std::vector<PlainStep> steps;
  try {
    JournalReader reader = JournalReader::open(pool);
    std::uint64_t from = 0;
    while (const std::optional<EncodedRecord> encoded = reader.next(from)) {
      from = encoded->seq + 1;
      std::optional<PlainRecord> record = decode_record(encoded->bytes);
      if (record && record->kind == RecordKind::kStep) steps.push_back(std::move(record->step));
    }
  } catch (const Error&) {  // no journal: the program has not attached
  }
  return steps;
}

/// A trial that has too few steps, with the reason.
Trial failed(const ProgramSupervisor& supervisor, const Child& program, const Child& analyzer, double most_s) {
  const ProgramRunEnd end = supervisor.end(program, analyzer);
  const AttachmentReport& attachment = end.attachment;
  if (supervisor.trial_was_ended()) {
    return {.row = {},
            .code = ExitCode::kUsage,
            .reason = fmt::format("{} published {} within {:.3g} s, its part of --trial-seconds; expected at least {}",
                                  end.program, counted(attachment.committed, "step"), most_s, kLeastTrialSteps)};
  }
  ProgramVerdict verdict = judge(end);
  const bool ended_by_itself =
      attachment.how == "producer_lost" || (attachment.how == "detached" && attachment.code == ExitCode::kDone);
  if (ended_by_itself && end.analyzer_death.empty()) {
    verdict.line = fmt::format("{} {} after {}; expected at least {}", end.program, end.end.in_words(),
                               counted(attachment.committed, "step"), kLeastTrialSteps);
  }
  return {.row = {},
          .code = verdict.code == ExitCode::kDone ? ExitCode::kUsage : verdict.code,
          .reason = verdict.line.empty() ? "the trial failed" : verdict.line};
}

}  // namespace

CorePlan cores_with(const RunOptions& options, const Configuration& configuration) {
  const bool is_given = !options.cores.producer_cores.empty() || !options.cores.analyzer_cores.empty();
  return cores_for(options, is_given ? std::nullopt : std::optional(configuration.analyzer_threads));
}

Trial make_trial(const CommandLine& line, RunOptions options, const Configuration& configuration, double most_s) {
  const std::string user_pool = std::filesystem::absolute(options.ring.pool).string();
  const WorkFolder place(std::filesystem::path(user_pool).parent_path().string(), "trial");
  options.ring.pool = place.file("trial.pool");
  options.publish.resume = false;
  options.publish.overwrite = false;
  options.reduce.at = configuration.reduce_on_transfer ? ReduceAt::kTransfer : ReduceAt::kSlot;
  const CorePlan cores = cores_with(options, configuration);
  ProgramSupervisor supervisor({.name = shortened(options.program.front()),
                                .cores = cores.producer,
                                .kill_after_s = options.peer.timeout_s,
                                .show_progress = false,
                                .trial = TrialLimit{.steps = trial_steps(options.publish.buffers), .seconds = most_s}});
  const RuntimeFolder folder;
  supervisor.expect_at(folder.socket());
  std::optional<Child> analyzer;
  analyzer.emplace(sibling("ringside-analyzer"), trial_arguments(line, options, folder.socket(), cores));
  if (!supervisor.wait_until_ready(analyzer, {})) {
    if (supervisor.interrupted()) return {.row = {}, .code = ExitCode::kInterrupted, .reason = ""};
    return {.row = {},
            .code = analyzer->exit_code() > 0 ? analyzer->verdict() : ExitCode::kPeerLost,
            .reason = "the analyzer " + analyzer->how_it_ended()};
  }
  const ProgramPlaces places{.socket = folder.socket(), .pool = options.ring.pool};
  Child program(UserProgram{
      .words = options.program,
      .environment = program_environment(options.publish, options.peer, places, cores.producer, options.ranks),
      .cpus = cores.producer,
      .without_streams = true});
  supervisor.wait_for_program(program, analyzer, {});
  if (supervisor.interrupted()) return {.row = {}, .code = ExitCode::kInterrupted, .reason = ""};
  if (auto row = measured_row(configuration, recorded_steps(options.ring.pool), options.publish.buffers))
    return {.row = row, .reason = ""};
  return failed(supervisor, program, *analyzer, most_s);
}

std::optional<PlanRow> measured_row(const Configuration& configuration, std::span<const PlainStep> steps,
                                    std::size_t buffers) {
  if (steps.size() < kLeastTrialSteps) return std::nullopt;
  const bool is_whole = steps.size() >= trial_steps(buffers);
  const std::size_t first = is_whole ? uncounted_steps(buffers) : std::max<std::size_t>(steps.size() / 4, 1);
  std::vector<double> intervals_s;
  for (std::size_t i = first; i < steps.size(); ++i) {
    const auto published = static_cast<double>(1 + steps[i].skipped_before);
    intervals_s.push_back(static_cast<double>(steps[i].published_at_ns - steps[i - 1].published_at_ns) * 1e-9 /
                          published);
  }
  const auto median_s = [&](std::int64_t PlainStep::*duration_ns) {
    std::vector<double> values;
    for (const PlainStep& step : steps.subspan(first)) values.push_back(static_cast<double>(step.*duration_ns) * 1e-9);
    return quantile(std::move(values), 0.5);
  };
  PlanRow row{.configuration = configuration, .prediction = {}};
  row.prediction = {.total_s = quantile(intervals_s, 0.5),
                    .generate_s = median_s(&PlainStep::generate_ns),
                    .producer_idle_s = median_s(&PlainStep::producer_idle_ns),
                    .transfer_s = median_s(&PlainStep::transfer_ns),
                    .commit_s = median_s(&PlainStep::commit_ns),
                    .analyze_s = median_s(&PlainStep::analyze_ns),
                    .analyzer_idle_s = median_s(&PlainStep::analyzer_idle_ns)};
  row.prediction.bottleneck = bottleneck_of(row.prediction);
  row.expected_s = row.prediction.total_s;
  row.low_s = quantile(intervals_s, 0.05);
  row.high_s = quantile(intervals_s, 0.95);
  return row;
}

}  // namespace ringside
