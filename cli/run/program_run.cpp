// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/program_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <memory>

#include "analyzer/pool/dax.hpp"
#include "analyzer/pool/ring_admission.hpp"
#include "cli/run/account_table.hpp"
#include "cli/run/node_rank.hpp"
#include "cli/run/program_options.hpp"
#include "cli/run/run_analyses.hpp"
#include "cli/run/trial_plan.hpp"
#include "cli/supervision/program_end.hpp"
#include "cli/supervision/program_supervisor.hpp"
#include "cli/supervision/runtime_folder.hpp"
#include "cli/terminal/format.hpp"
#include "common/files/own_descriptor.hpp"
#include "common/files/standard_streams.hpp"
#include "common/platform/limits.hpp"
#include "common/platform/names.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// Checks everything that can be checked before a process starts.
void check(const CommandLine& line, const RunOptions& options, const std::vector<KeptFile>& kept) {
  if (!options.built_in_program) refuse_solver_options(line, options.program.front());
  if (!options.summary.empty()) check_output(options.summary, "--summary", kept);
  const PoolUse pool_use = options.publish.pool_use();
  check_analyses(options);
  if (options.ring.require_dax) require_dax(options.ring.pool);
  // The analyzer decides about the pool only when the program attaches; this check finds foreign iterates earlier.
  if (pool_use == PoolUse::kFresh && options.plan.empty()) refuse_foreign_iterates(options.ring);
}

std::vector<std::string> analyzer_arguments(const CommandLine& line, const RunOptions& options,
                                            const std::string& socket, const CorePlan& cores, pid_t publisher) {
  std::vector<std::string> arguments =
      line.arguments_given<RingOptions, JournalOptions, TelemetryOptions, ReduceOptions, PlugInOptions, TriggerOptions,
                                PeerOptions>();
  complete_analyzer_arguments(arguments, options, socket, cores);
  // The analyzers of a job's nodes jointly compute the results of the whole run.
  if (options.per_node && options.telemetry.node_address.empty()) arguments.emplace_back("--node-address=%h");
  if (publisher > 0) arguments.push_back("--publisher=" + std::to_string(publisher));
  return arguments;
}

std::string headline(ExitCode code, const AttachmentReport& attachment, const Json& reported) {
  switch (code) {
    case ExitCode::kDone:
      return reported.value("resumed_from", std::uint64_t{0}) > 0 &&
                     reported["resumed_from"] == reported.value("iterations", std::uint64_t{0})
                 ? "already complete: nothing was left to do"
                 : "done";
    case ExitCode::kInterrupted:
      if (attachment.how == "stopped_by_trigger") return "stopped by a trigger";
      return attachment.how == "detached" || attachment.how == "stop_requested" ? "interrupted, stopped cleanly"
                                                                                : "interrupted; the account so far";
    default: return "failed; the account so far";
  }
}

/// The beginning of the lines that this command prints. With --per-node, it contains the host's name, because all nodes
/// of a job write to the same terminal.
std::string speaker(const RunOptions& options, const char* name) {
  return options.per_node ? fmt::format("{} on {}", name, host_name()) : name;
}

/// Prints the account and writes the summary, if a step was committed or the run continued from a kept step.
void close_account(const RunOptions& options, RunFacts facts, ExitCode code, const ProgramSupervisor& supervisor,
                   const std::vector<KeptFile>& kept, Attendance* attendance) {
  const Json& reported = supervisor.producer().figures;
  const Json& analyzed = supervisor.analyzer().figures;
  if (!reported.is_object() || !analyzed.is_object()) return;
  if (supervisor.attachment().committed == 0 && reported.value("resumed_from", std::uint64_t{0}) == 0) return;
  facts.coordination = reported.value("coordination", facts.coordination);
  facts.buffers = reported.value("buffers", facts.buffers);
  facts.elastic = reported.value("elastic", false);
  facts.analyzer_restarts = supervisor.restarts();
  facts.pool_gone = analyzed.value("pool_gone", false);
  const Json summary = make_summary(facts, reported, analyzed);
  if (attendance != nullptr) attendance->tell("account", summary.dump());  // comes first: standard error may be full
  if (!options.quiet) {
    write_beside_output(options.summary,
                        fmt::format("{}: {}\n{}", speaker(options, "ringside run"),
                                    headline(code, supervisor.attachment(), reported), account_table(summary, facts)));
  }
  if (!options.summary.empty()) write_summary(options.summary, kept, summary);
}

/// The exit code if the analyzer ended before it listened. The analyzer's message is at most one line; an attended
/// program receives this line and reports it.
ExitCode end_unready(const ProgramSupervisor& supervisor, const Child& analyzer, Attendance* attendance) {
  if (supervisor.interrupted()) return ExitCode::kInterrupted;
  const ExitCode code = analyzer.exit_code() > 0 ? analyzer.verdict() : ExitCode::kPeerLost;
  if (attendance == nullptr) {
    report_death("analyzer", analyzer);
  } else {
    const std::string& line = supervisor.analyzers_last_line();
    const std::size_t name = line.starts_with("ringside") ? line.find(": ") : std::string::npos;
    attendance->refuse(Error(code, line.empty() ? "the analyzer " + analyzer.how_it_ended()
                                                : line.substr(name == std::string::npos ? 0 : name + 2)));
  }
  return code;
}

Child start_or_attend(const RunOptions& options, const ProgramPlaces& places, const CorePlan& cores, Attendance* attendance) {
  if (attendance != nullptr) {
    attendance->ready(program_environment(options.publish, options.peer, places, cores.producer, options.ranks));
    return Child(AttendedProgram{attendance->program(), attendance->take_pidfd(), attendance->copy_of_socket()});
  }
  return Child(UserProgram{
      .words = options.program,
      .environment = options.per_node
                         ? rank_environment(options.publish, options.peer, places)
                         : program_environment(options.publish, options.peer, places, cores.producer, options.ranks),
      .cpus = cores.producer});
}

/// attendance: null, unless options.program has started this process.
ExitCode run_beside(const CommandLine& line, RunOptions options, Attendance* attendance) {
  ensure_descriptors(kRunDescriptors, "ringside run");
  const std::vector<KeptFile> kept = kept_files(line, options);
  check(line, options, kept);
  if (options.cores.choice == CoreChoice::kAuto) {
    if (const std::optional<ExitCode> end = choose_by_trials(line, options)) return *end;
  }
  const CorePlan cores = options.per_node ? cores_of_rank(options) : cores_for(options);
  if (cores.oversubscribed_one_core) {
    write_standard_error(fmt::format("ringside: warning: {}{}\n", cores.reason, no_core_to_lend(options)));
  }
  if (options.ranks > static_cast<int>(cores.producer.size()) && !options.quiet) {
    write_standard_error(fmt::format("ringside: {} ranks share {} (cores {}); each waits while others compute\n",
                                     options.ranks, counted(cores.producer.size(), "core"),
                                     to_string(CoreList{cores.producer})));
  }

  // From here on, the supervisor handles the stop signals, so that the run's folder is always removed.
  ProgramSupervisor supervisor({.name = shortened(options.program.front()),
                                .cores = cores.producer,
                                .kill_after_s = options.peer.timeout_s,
                                .show_progress = !options.quiet && (!options.per_node || is_first_of_job()),
                                .is_attended = attendance != nullptr,
                                .resumes_from_others = !options.resume_from.empty()});
  const auto folder = options.per_node ? std::make_unique<const RuntimeFolder>(node_folder_name())
                                       : std::make_unique<const RuntimeFolder>();
  supervisor.expect_at(folder->socket());
  RunAnalyses analyses(line, options, folder->socket(), cores, supervisor);
  if (const std::optional<ExitCode> refusal = analyses.refusal()) {
    if (attendance != nullptr) attendance->refuse(Error(*refusal, "run_options: --analyze was refused, for the reason on standard error"));
    return *refusal;
  }
  std::optional<Child> analyzer;
  const auto start_analyzer = [&] {
    analyzer.reset();
    analyzer.emplace(sibling("ringside-analyzer"),
                     analyzer_arguments(line, options, folder->socket(), cores,
                                        attendance != nullptr ? attendance->program() : supervisor.attachment().pid));
  };
  const bool restarts = options.publish.on_analyzer_loss != OnAnalyzerLoss::kStop;
  const std::function<void()> restart_analyzer = restarts ? start_analyzer : std::function<void()>();
  start_analyzer();
  if (!supervisor.wait_until_ready(analyzer, restart_analyzer)) return end_unready(supervisor, *analyzer, attendance);
  const ProgramPlaces places{folder->socket(), options.ring.pool, options.resume_from};
  Child program = start_or_attend(options, places, cores, attendance);
  supervisor.wait_for_program(program, analyzer, restart_analyzer);

  ProgramRunEnd end = supervisor.end(program, *analyzer);
  end.pool = options.ring.pool;
  count_in_pool(end.attachment, end.pool);
  const ProgramVerdict verdict = judge(end);
  if (!verdict.line.empty() && !supervisor.loss_was_told())
    write_standard_error(fmt::format("{}: {}\n", speaker(options, "ringside"), printable(verdict.line)));
  const RunFacts facts{.mode = to_string(options.mode),
                       .pool = options.ring.pool,
                       .producer_cores = to_string(CoreList{cores.producer}),
                       .analyzer_cores = to_string(CoreList{cores.analyzer}),
                       .coordination = to_string(options.publish.coordination),
                       .buffers = options.publish.buffers,
                       .durability = std::string(to_string(options.ring.durability)),
                       .program = shortened(fmt::format("{}", fmt::join(options.program, " "))),
                       .ranks = options.ranks,
                       .nodes = options.ranks > 0 ? 1 : 0,
                       .analyses = analyses.end()};
  close_account(options, facts, verdict.code, supervisor, kept, attendance);
  return verdict.code;
}

}  // namespace

ExitCode run_user_program(const CommandLine& line, RunOptions options) {
  if (options.cores.choice == CoreChoice::kAuto) refuse_trials_of_ranks(options);
  if (options.per_node) {
    if (rank_on_node() > 0) become_program(options);
    options.ring.pool = with_host(options.ring.pool);
    options.summary = with_host(options.summary);
  }
  if (options.ranks > 0) options.program = ranks_command(line, options);
  if (!options.hosts.empty()) become(options.program);  // mpirun starts this command with --per-node for each rank
  return run_beside(line, options, nullptr);
}

ExitCode attend_program(CommandLine& line, RunOptions& options, Attendance& attendance, std::vector<std::string> words) {
  try {
    words.insert(words.end(), {"--", attendance.words()});
    parse_words(line, words);
    if (options.ranks > 0 || options.per_node || !options.hosts.empty() || !options.resume_from.empty()) {
      throw usage_error("run_options: found an option for several ranks; expected them to be started by `ringside run`");
    }
    if (options.cores.choice == CoreChoice::kAuto) {
      throw usage_error(
          "run_options: found --cores auto, but the program runs already; expected `ringside run --cores auto -- "
          "PROGRAM`, which can start it several times");
    }
    wait_for_predecessor(options.ring.pool, options.peer.timeout_s);
    return run_beside(line, options, &attendance);
  } catch (const Error& error) {
    attendance.refuse(error);
    return error.code();
  } catch (const std::exception& error) {
    attendance.refuse(system_error("{}", error.what()));
    return ExitCode::kSystem;
  }
}

}  // namespace ringside
