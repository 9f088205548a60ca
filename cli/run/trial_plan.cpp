// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/trial_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "cli/node/plan_table.hpp"
#include "cli/node/planning.hpp"
#include "cli/run/program_trial.hpp"
#include "cli/supervision/stop_signals.hpp"
#include "cli/terminal/format.hpp"
#include "common/files/standard_streams.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/version.hpp"
#include "common/text/printable.hpp"
#include "node/plan/trials.hpp"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 9> kLaunchers = {"mpirun", "mpiexec", "orterun", "prterun", "prun",
                                                        "srun",   "aprun",   "jsrun",   "flux"};

struct Trials {
  Plan plan;                        // a row for each successful trial, in their order
  ExitCode code = ExitCode::kDone;  // of the trial that failed
  std::string reason;               // why it failed
};

TrialRequest request_of(const CommandLine& line, const RunOptions& options) {
  const CorePlan cores = cores_for(options);
  return {.usual = {.producer_threads = static_cast<int>(cores.producer.size()),
                    .analyzer_threads = static_cast<int>(cores.analyzer.size()),
                    .reduce_on_transfer = options.reduce.at == ReduceAt::kTransfer,
                    .elastic = options.publish.elastic},
          .is_split_fixed = cores.oversubscribed_one_core || !options.cores.producer_cores.empty() ||
                            !options.cores.analyzer_cores.empty(),
          .is_reduce_fixed = line.is_given("--reduce")};
}

void announce(const RunOptions& options, const TrialRequest& request) {
  if (options.quiet) return;
  write_standard_error(fmt::format(
      "ringside: trials: {} is started up to {} times for {} steps each, within {:.6g} s; each start writes the files "
      "that it writes itself\n",
      shortened(options.program.front()), most_trials(request), trial_steps(options.publish.buffers),
      options.cores.trial_s));
}

/// Each trial may take an equal part of the time that is left.
Trials make_trials(const CommandLine& line, const RunOptions& options, const TrialRequest& request) {
  StopSignals signals;  // a signal between two trials ends the trials
  const std::int64_t begun_ns = now_ns();
  Trials made;
  std::vector<PlanRow>& rows = made.plan.rows;
  while (const std::optional<Configuration> next = next_trial(request, rows)) {
    const double left_s = options.cores.trial_s - static_cast<double>(now_ns() - begun_ns) * 1e-9;
    const int open = std::max(1, most_trials(request) - static_cast<int>(rows.size()));
    if (left_s <= 0) {
      made.plan.remarks.emplace_back("the time was over before all trials were made; --trial-seconds allows more");
      break;
    }
    const Trial trial = make_trial(line, options, *next, left_s / open);
    if (trial.code == ExitCode::kInterrupted || signals.take() != 0) {
      made.code = ExitCode::kInterrupted;
      return made;
    }
    if (!trial.row) {
      made.code = trial.code;
      made.reason = trial.reason;
      if (!rows.empty()) {
        made.plan.remarks.push_back(fmt::format("the trial of {} failed: {}", in_words(*next), trial.reason));
      }
      break;
    }
    rows.push_back(*trial.row);
  }
  if (!rows.empty()) made.plan.best = best_trial(rows);
  return made;
}

/// "1 + 1 cores, --reduce transfer, --elastic off: 5.11 ms a step, 0.83 of the time with the default (...)"
std::string choice_in_words(const Plan& plan) {
  const PlanRow& best = plan.rows[plan.best];
  const double usual_s = plan.rows.front().prediction.total_s;
  const std::string chosen =
      fmt::format("{}: {} a step", in_words(best.configuration), seconds_text(best.prediction.total_s));
  if (plan.best == 0) {
    return chosen + (plan.rows.size() > 1 ? "; this is the default, and no other trial was clearly faster"
                                          : "; this is the default, and there was no other trial");
  }
  return fmt::format("{}, {:.2f} of the time with the default ({})", chosen, best.prediction.total_s / usual_s,
                     in_words(plan.rows.front().configuration));
}

std::string trials_table(const RunOptions& options, const Plan& plan) {
  std::string out =
      fmt::format("ringside plan: trials of {}\n", shortened(fmt::format("{}", fmt::join(options.program, " "))));
  out += fmt::format("  run        {}, {}, --durability {}, pools beside {}\n\n",
                     counted(std::uint64_t{options.publish.buffers}, "buffer"),
                     counted(std::uint64_t{options.ring.slots}, "slot"), to_string(options.ring.durability),
                     printable(options.ring.pool));
  out += rows_table(plan, "a step", false);
  out += fmt::format("\n  * {}\n", choice_in_words(plan));
  for (const std::string& remark : plan.remarks) out += fmt::format("  note: {}\n", printable(remark));
  return out;
}

Json trials_json(const RunOptions& options, const Plan& plan) {
  Json object = {{"program", fmt::format("{}", fmt::join(options.program, " "))}, {"version", version()}};
  object["rows"] = rows_json(plan);
  object["best"] = plan.best;
  object["remarks"] = plan.remarks;
  return object;
}

void take(const Configuration& chosen, RunOptions& options) {
  const CorePlan cores = cores_with(options, chosen);
  options.reduce.at = chosen.reduce_on_transfer ? ReduceAt::kTransfer : ReduceAt::kSlot;
  if (cores.oversubscribed_one_core) return;
  options.cores.producer_cores = to_string(CoreList{cores.producer});
  options.cores.analyzer_cores = to_string(CoreList{cores.analyzer});
}

/// Prints a line about the choice of a run.
void say(const RunOptions& options, const std::string& text) {
  if (!options.quiet) write_standard_error(fmt::format("ringside: --cores auto: {}\n", printable(text)));
}

}  // namespace

void refuse_trials_of_ranks(const RunOptions& options) {
  // The name up to a dot: mpiexec.hydra, mpirun.openmpi.
  std::string name = std::filesystem::path(options.program.front()).filename().string();
  name.resize(std::min(name.size(), name.find('.')));
  const bool is_launcher = std::find(kLaunchers.begin(), kLaunchers.end(), name) != kLaunchers.end();
  if (!is_launcher && options.ranks == 0 && !options.per_node) return;
  throw usage_error("--cores auto: found with {}, expected a program of one process, because trials do not place ranks",
                    options.ranks > 0  ? "--ranks"
                    : options.per_node ? "--per-node"
                                       : shortened(options.program.front()));
}

std::optional<ExitCode> choose_by_trials(const CommandLine& line, RunOptions& options) {
  const TrialRequest request = request_of(line, options);
  announce(options, request);
  const Trials trials = make_trials(line, options, request);
  if (trials.code == ExitCode::kInterrupted) return ExitCode::kInterrupted;
  if (!options.plan.empty()) {
    if (trials.plan.rows.empty()) throw Error(trials.code, printable(trials.reason));
    fmt::print("{}", options.plan == "json" ? trials_json(options, trials.plan).dump(2) + "\n"
                                            : trials_table(options, trials.plan));
    return ExitCode::kDone;
  }
  if (trials.plan.rows.empty()) {
    say(options, fmt::format("the topology chose the cores instead: {}", trials.reason));
    return std::nullopt;
  }
  for (const std::string& remark : trials.plan.remarks) say(options, "note: " + remark);
  say(options, choice_in_words(trials.plan));
  take(trials.plan.rows[trials.plan.best].configuration, options);
  return std::nullopt;
}

}  // namespace ringside
