// SPDX-License-Identifier: BSD-3-Clause
// `ringside run`: starts the analyzer and the producer on their cores, shows their progress, passes Ctrl-C on, and
// prints the account. It never leaves a child running.
#include <fmt/format.h>

#include <functional>
#include <optional>
#include <vector>

#include "analyzer/pool/dax.hpp"
#include "analyzer/pool/ring_admission.hpp"
#include "cli/run/account_table.hpp"
#include "cli/run/attendance.hpp"
#include "cli/run/auto_plan.hpp"
#include "cli/run/node_rank.hpp"
#include "cli/run/program_run.hpp"
#include "cli/run/run_analyses.hpp"
#include "cli/run/run_options.hpp"
#include "cli/subcommands.hpp"
#include "cli/supervision/runtime_folder.hpp"
#include "cli/supervision/supervisor.hpp"
#include "common/files/own_descriptor.hpp"
#include "common/files/standard_streams.hpp"
#include "common/platform/limits.hpp"
#include "common/text/printable.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/memory/matrix_memory.hpp"

namespace ringside {
namespace {

PlannedOptions planned_options(const CommandLine& line, const RunOptions& options) {
  return {.solve = options.solve,
          .publish = options.publish,
          .ring = options.ring,
          .reduce = options.reduce,
          .cores = options.cores,
          .elastic_given = line.is_given("--elastic"),
          .reduce_given = line.is_given("--reduce"),
          .memory = {}};
}

/// The modes that the calibration suggests. Empty if the user chose cores in any way, or gave both --elastic and
/// --reduce.
std::optional<AutoPlan> calibrated_modes(const CommandLine& line, const RunOptions& options) {
  if (line.is_given("--cores") || options.mode == Mode::kDram) return std::nullopt;
  if (line.is_given("--elastic") && line.is_given("--reduce")) return std::nullopt;
  if (!options.cores.producer_cores.empty() || !options.cores.analyzer_cores.empty()) return std::nullopt;
  const CorePlan cores = cores_for(options);
  if (cores.oversubscribed_one_core) return std::nullopt;
  check_matrix_name(options.solve.matrix, options.solve.columns);
  return make_mode_plan(planned_options(line, options), static_cast<int>(cores.producer.size()),
                        static_cast<int>(cores.analyzer.size()));
}

/// The choice for the run, if a plan can be made. Prints a line about it to standard error.
std::optional<AutoPlan> plan_for(const CommandLine& line, const RunOptions& options) {
  const bool automatic = options.cores.choice == CoreChoice::kAuto;
  if (!automatic && (options.adapt || !options.node_file.empty())) {
    throw usage_error("{}: found without --cores auto, expected both or neither", options.adapt ? "--adapt" : "--node");
  }
  if (!automatic) {
    std::optional<AutoPlan> plan = calibrated_modes(line, options);
    if (plan && !options.quiet) write_standard_error(fmt::format("ringside: calibrated: {}\n", plan->in_words()));
    return plan;
  }
  if (options.mode == Mode::kDram) {
    throw usage_error(
        "--cores auto: found with --mode dram, whose only process has all cores; expected --mode pipeline");
  }
  if (options.adapt && line.is_given("--reduce")) {
    throw usage_error("--adapt, --reduce: found both, expected one of them, because --adapt chooses how to reduce");
  }
  // Wrong core lists and wrong names must be reported as errors, not as reasons why no plan was made.
  cores_for(options);
  check_matrix_name(options.solve.matrix, options.solve.columns);
  std::string why_not;
  std::optional<AutoPlan> plan = make_auto_plan(planned_options(line, options), options.node_file, why_not);
  if (!options.quiet) {
    write_standard_error(
        fmt::format("ringside: {}\n", plan ? "--cores auto: " + plan->in_words() : printable(why_not)));
    if (plan) {
      for (const std::string& remark : plan->request.remarks) {
        write_standard_error(fmt::format("ringside: --cores auto: note: {}\n", printable(remark)));
      }
    }
  }
  return plan;
}

/// Adds the plan to the analyzer's arguments: --reduce, unless the user gave it, and the planned times of a step.
void add_planned(std::vector<std::string>& arguments, const AutoPlan& plan, const RunOptions& options,
                 bool reduce_given) {
  if (!reduce_given) arguments.push_back("--reduce=" + to_string(options.reduce.at));
  arguments.push_back("--planned=" + to_string(planned_step(plan, options.adapt)));
  if (options.adapt) arguments.emplace_back("--adapt");
}

/// Derives one documented exit code from both processes. A process that exited by itself has reported the reason on
/// standard error; a killed process has not. A failed disk and a truncated pool take precedence over everything else,
/// because data may be lost.
ExitCode judge(const Child& producer, const Child* analyzer, bool interrupted) {
  for (const ExitCode lost : {ExitCode::kSystem, ExitCode::kDamaged}) {
    if (analyzer != nullptr && analyzer->exit_code() == static_cast<int>(lost)) return lost;
  }
  if (interrupted && producer.exit_code() != static_cast<int>(ExitCode::kSystem)) return ExitCode::kInterrupted;
  if (analyzer != nullptr && report_death("analyzer", *analyzer)) return ExitCode::kPeerLost;
  if (report_death("producer", producer)) return ExitCode::kPeerLost;
  if (producer.exit_code() != 0) return producer.verdict();
  return analyzer != nullptr ? analyzer->verdict() : ExitCode::kDone;
}

const char* headline(ExitCode code, const Child& producer, const Child* analyzer, const Json& reported) {
  const bool both_exited = producer.death_signal() == 0 && (analyzer == nullptr || analyzer->death_signal() == 0);
  switch (code) {
    case ExitCode::kDone:
      return reported.value("resumed_from", std::uint64_t{0}) > 0 && reported["resumed_from"] == reported["iterations"]
                 ? "already complete: nothing was left to do"
                 : "done";
    case ExitCode::kInterrupted:
      return both_exited ? "interrupted, stopped cleanly" : "interrupted; the account so far";
    default: return "failed; the account so far";
  }
}

/// Checks everything that can be checked before a process starts or a large matrix is loaded.
void check_own(const CommandLine& line, const RunOptions& options, const std::vector<KeptFile>& kept) {
  const bool pipeline = options.mode == Mode::kPipeline;
  // Check the summary's place now, not after hours of solving.
  if (!options.summary.empty()) check_output(options.summary, "--summary", kept);
  const PoolUse pool_use = options.publish.pool_use();
  if (!pipeline && pool_use == PoolUse::kResume) {
    throw usage_error(
        "--resume: found with --mode dram, which keeps nothing to continue from; expected --mode pipeline");
  }
  if (!pipeline && options.ring.require_dax) {
    throw usage_error("--require-dax: found with --mode dram, which keeps nothing; expected --mode pipeline");
  }
  if (!pipeline && !options.plug_ins.reduce_with.empty()) {
    throw usage_error("--reduce-with: found with --mode dram, which has no analyzer to run plug-ins; expected --mode pipeline");
  }
  for (const char* option : {"--trigger", "--on-non-finite", "--archive-size"}) {
    if (!pipeline && line.is_given(option)) {
      throw usage_error("{}: found with --mode dram, which has no analyzer to act; expected --mode pipeline", option);
    }
  }
  check_analyses(options);
  // This check precedes the check of the pool, because a user who mistyped a matrix must not get the advice to discard
  // another run's iterates.
  check_matrix_name(options.solve.matrix, options.solve.columns);
  check_matrix_memory(options.solve);
  if (options.ring.require_dax) require_dax(options.ring.pool);
  // The analyzer decides about the pool only when the producer attaches; this check finds foreign iterates earlier.
  if (pipeline && pool_use == PoolUse::kFresh) refuse_foreign_iterates(options.ring);
}

/// Makes the arguments of both processes, and the account of their work.
class Run {
 public:
  Run(const CommandLine& line, RunOptions options, std::optional<AutoPlan> plan, const CorePlan& cores)
      : line_(line), options_(std::move(options)), plan_(std::move(plan)), shared_core_(cores.oversubscribed_one_core) {
    const bool pipeline = options_.mode == Mode::kPipeline;
    facts_ = {.mode = to_string(options_.mode),
              .pool = options_.ring.pool,
              .producer_cores = to_string(CoreList{cores.producer}),
              .analyzer_cores = pipeline ? to_string(CoreList{cores.analyzer}) : "",
              .coordination = to_string(options_.publish.coordination),
              .buffers = options_.publish.buffers,
              .durability = std::string(to_string(options_.ring.durability)),
              .elastic = pipeline && options_.publish.elastic};
  }

  std::vector<std::string> analyzer_arguments() const {
    std::vector<std::string> arguments =
        line_.arguments_given<RingOptions, JournalOptions, TelemetryOptions, ReduceOptions, PlugInOptions,
                              TriggerOptions, PeerOptions>();
    arguments.insert(arguments.end(), {"--once", "--socket=" + folder_.socket(), "--cores=" + facts_.analyzer_cores});
    if (shared_core_) arguments.emplace_back("--shared-core");
    if (plan_) add_planned(arguments, *plan_, options_, line_.is_given("--reduce"));
    return arguments;
  }

  std::string socket() const { return folder_.socket(); }

  std::vector<std::string> producer_arguments() const {
    std::vector<std::string> arguments = line_.arguments_given<SolveOptions, PublishOptions, PeerOptions>();
    arguments.insert(arguments.end(), {"--mode=" + facts_.mode, "--cores=" + facts_.producer_cores});
    if (options_.mode == Mode::kPipeline) {
      arguments.push_back("--socket=" + folder_.socket());
    } else {
      arguments.push_back("--passes=" + std::to_string(options_.reduce.passes));
    }
    if (plan_ && !line_.is_given("--elastic"))
      arguments.emplace_back(options_.publish.elastic ? "--elastic=on" : "--elastic=off");
    if (shared_core_) arguments.emplace_back("--shared-core");
    return arguments;
  }

  /// Prints the account and writes the summary, if the producer has begun to report.
  void close_account(ExitCode code, const Supervisor& supervisor, const Child& producer, const Child* analyzer,
                     const std::vector<KeptFile>& kept, Json analyses) {
    facts_.analyses = std::move(analyses);
    const Json& reported = supervisor.producer().figures;
    if (!reported.is_object() || !reported.contains("begun_ns")) return;
    const Json& analyzed = supervisor.analyzer().figures;
    facts_.analyzer_restarts = supervisor.restarts();
    facts_.pool_gone = analyzed.is_object() && analyzed.value("pool_gone", false);
    Json summary = make_summary(facts_, reported, analyzed);
    add_plan(summary, plan_);
    const bool begun = reported["begun_ns"] != 0;  // 0: the producer was refused and has reported the reason
    if (!options_.quiet && begun) {
      // fmt::print would throw, but the summary must be written even if standard output fails.
      write_beside_output(options_.summary,
                          fmt::format("ringside run: {}\n{}", headline(code, producer, analyzer, reported),
                                      account_table(summary, facts_)));
    }
    if (!options_.summary.empty()) write_summary(options_.summary, kept, summary);
  }

 private:
  const CommandLine& line_;
  const RunOptions options_;
  const std::optional<AutoPlan> plan_;
  const bool shared_core_;
  RunFacts facts_;
  RuntimeFolder folder_;
};

ExitCode run(const CommandLine& line, RunOptions options) {
  ensure_descriptors(kRunDescriptors, "ringside run");
  const bool pipeline = options.mode == Mode::kPipeline;
  const std::optional<AutoPlan> plan = plan_for(line, options);
  if (plan) {
    options.publish.elastic = plan->chosen.configuration.elastic;
    options.reduce.at = plan->chosen.configuration.reduce_on_transfer ? ReduceAt::kTransfer : ReduceAt::kSlot;
  }
  const CorePlan cores =
      cores_for(options, plan ? std::optional(plan->chosen.configuration.analyzer_threads) : std::nullopt);
  if (cores.oversubscribed_one_core) {
    write_standard_error(fmt::format("ringside: warning: {}{}\n", cores.reason, no_core_to_lend(options)));
  }
  const std::vector<KeptFile> kept = kept_files(line, options);
  check_own(line, options, kept);

  // From here on, the supervisor handles the stop signals, so that the run's folder is always removed.
  Supervisor supervisor(!options.quiet, options.peer.timeout_s);
  if (plan && options.cores.choice == CoreChoice::kAuto && !options.quiet) {
    supervisor.compare_with(PlanCheck(planned_step(*plan, options.adapt)));
  }
  Run run(line, options, plan, cores);
  RunAnalyses analyses(line, options, run.socket(), cores, supervisor);
  if (const std::optional<ExitCode> refusal = analyses.refusal()) return *refusal;

  std::optional<Child> analyzer;
  const auto start_analyzer = [&] {
    analyzer.reset();
    analyzer.emplace(sibling("ringside-analyzer"), run.analyzer_arguments());
  };
  const bool restarts = options.publish.on_analyzer_loss != OnAnalyzerLoss::kStop;
  const std::function<void()> restart_analyzer = restarts ? start_analyzer : std::function<void()>();
  if (pipeline) {
    start_analyzer();
    if (!supervisor.wait_until_ready(analyzer, restart_analyzer)) {
      if (supervisor.interrupted()) return ExitCode::kInterrupted;
      report_death("analyzer", *analyzer);
      return analyzer->exit_code() > 0 ? analyzer->verdict() : ExitCode::kPeerLost;
    }
  }
  Child producer(sibling("ringside-producer"), run.producer_arguments());
  supervisor.wait_until_ended(producer, analyzer, restart_analyzer);

  const ExitCode code = judge(producer, analyzer ? &*analyzer : nullptr, supervisor.interrupted());
  run.close_account(code, supervisor, producer, analyzer ? &*analyzer : nullptr, kept, analyses.end());
  return code;
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  RunOptions options;
  CommandLine line("Runs a built-in solver or your program, and keeps, reduces and accounts for every iterate.",
                   "ringside run");
  declare(line, options);
  line.footer(
      "`-- PROGRAM [ARGS...]` runs your program instead of a built-in solver, on the producer's cores. One of its\n"
      "processes publishes the iterates through libringside. It finds its analyzer by RINGSIDE_SOCKET and its cores\n"
      "by RINGSIDE_CORES and OMP_NUM_THREADS; RINGSIDE_POOL, RINGSIDE_POOL_USE, RINGSIDE_BUFFERS, "
      "RINGSIDE_PEER_TIMEOUT,\n"
      "RINGSIDE_ON_ANALYZER_LOSS, RINGSIDE_COORDINATION, RINGSIDE_ELASTIC and RINGSIDE_RESUME_FROM pass on options.\n"
      "With --elastic, PROGRAM lends its cores while it waits for a buffer; unless OMP_WAIT_POLICY is set, it becomes\n"
      "passive. --mode, --when-full, --node, --adapt and all of \"Problem and solver\" belong to built-in solvers.\n"
      "--cores auto starts PROGRAM several times, for 20 steps each, before the run; each start writes PROGRAM's own\n"
      "files, and --trial-seconds limits the time of all of them.\n"
      "Ctrl-C reaches PROGRAM as SIGINT.");
  if (const auto value = Attendance::asked_in(argc, argv)) {
    Attendance attendance(*value);
    return static_cast<int>(attend_program(line, options, attendance, {argv + 2, argv + argc}));
  }
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
  check_rank_options(options);
  const bool has_trials = !options.program.empty() && options.cores.choice == CoreChoice::kAuto;
  if (!has_trials && line.is_given("--trial-seconds")) {
    throw usage_error("--trial-seconds: found without trials, expected --cores auto and `-- PROGRAM`, which need them");
  }
  if ((options.ranks > 0 || options.per_node) && options.program.empty()) take_solver_of_ranks(line, options);
  return static_cast<int>(options.program.empty() ? run(line, options) : run_user_program(line, options));
}

}  // namespace ringside
