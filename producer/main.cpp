// SPDX-License-Identifier: BSD-3-Clause
// ringside-producer: loads the matrix, attaches to the analyzer, solves the problem and publishes each iterate. The
// process ends with its run.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "common/json/json.hpp"
#include "common/messages/message_coordination.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/limits.hpp"
#include "common/program/log.hpp"
#include "common/program/program.hpp"
#include "common/program/report.hpp"
#include "common/program/schema_json.hpp"
#include "common/program/service_manager.hpp"
#include "common/program/stop_signal.hpp"
#include "common/program/topology.hpp"
#include "common/records/shown_results.hpp"
#include "common/text/printable.hpp"
#include "common/threads/elastic_team.hpp"
#include "include/ringside.h"
#include "library/messages.hpp"
#include "producer/account.hpp"
#include "producer/baseline.hpp"
#include "producer/memory/matrix_memory.hpp"
#include "producer/producer.hpp"
#include "producer/run_writer.hpp"
#include "producer/solve_loop.hpp"
#include "producer/solver/problem.hpp"
#include "producer/solver/solver_table.hpp"

namespace ringside {
namespace {

struct ProducerOptions {
  SolveOptions solve;
  PublishOptions publish;
  PeerOptions peer;
  ReduceOptions reduce;  // for the baseline only
  Mode mode = Mode::kPipeline;
  ProcessOptions process;
};

Json describe(const RunDescription& run, const Schema& schema) {
  return {{"run_id", to_string(run.run_id)}, {"problem_id", to_string(run.problem_id)}, {"solver", text_of(run.solver)},
          {"matrix", text_of(run.matrix)},   {"parameters", text_of(run.parameters)},   {"rows", run.entries},
          {"nonzeros", run.nonzeros},        {"schema", variables_to_json(schema)}};
}

/// The baseline, which uses neither hand-off nor ring.
SolveEnd run_dram(const ProducerOptions& options, const SolveRun& run, Json& final) {
  const BaselineResult result = run_baseline(run, options.reduce.passes);
  final["analyze_s"] = static_cast<double>(result.analyze_ns) * 1e-9;
  final["analysis_ended_ns"] = result.ended_ns;
  final["reduce"] = to_string(ReduceAt::kSlot);  // the baseline has no transfer
  final["passes"] = options.reduce.passes;
  final["last"] = to_json(result.last, result.last_iteration);
  return result.end;
}

constexpr const char* kNoGuests =
    "--elastic: the analyzer has no cores of its own that this process may use; nothing is borrowed";

std::vector<int> lent_cores(const ProcessOptions& process) {
  if (process.cores.empty()) {
    throw usage_error(
        "--elastic: found no --cores, expected the list of this process's cores, which it lends while its threads "
        "wait");
  }
  return parse_core_list(process.cores, "--cores").cpus;
}

/// Reports what is unusual about the attachment. description: the run as the analyzer describes it.
void report_attachment(const ProducerOptions& options, const RunWriter& writer, const Schema& variables,
                       const std::optional<ContinuedStep>& kept, const RunDescription& description, Report& report) {
  const std::uint64_t from = kept ? kept->iteration : 0;
  std::string note = writer.note();
  if (note.empty() && options.publish.resume && !kept)
    note = "nothing to continue from: the run begins with iteration 1";
  log_info("event=attached run_id={} socket={} resumed_from={}", to_string(description.run_id), options.process.socket,
           from);
  // If `ringside run` reads the reports, it informs the user.
  if (!note.empty() && options.process.report_fd < 0) log_warning("event=attached text=\"{}\"", note);
  Json line{{"event", "attached"}, {"run", describe(description, variables)}, {"resumed_from", from}};
  if (!note.empty()) line["note"] = note;
  report.write(line);
}

/// Publishes every step and waits until the analyzer has confirmed the end of the run.
SolveEnd run_pipeline(const ProducerOptions& options, const SolveRun& run, const volatile int* stop,
                      RunDescription& description, Report& report, ServiceManager& manager) {
  RunWriterOptions writer_options{options.publish, options.peer, options.process};
  writer_options.stop = stop;
  if (options.publish.elastic) writer_options.lent_cores = lent_cores(options.process);
  manager.describe("waiting for the analyzer at " + options.process.socket);
  RunWriter writer(writer_options, description, run.solver.variables(), run.solver.scalars());
  writer.identify(description);
  const std::optional<ContinuedStep> kept = writer.kept();
  report_attachment(options, writer, run.solver.variables(), kept, description, report);

  std::optional<ElasticTeam> team;
  if (options.publish.elastic) {
    team.emplace(writer_options.lent_cores, writer.analyzer_cores(), run.account.analyzer_cores_lent_ns);
    run.solver.share_among(*team);
    log_info("event=elastic guests={}", team->guests());
    if (team->guests() == 0) log_warning("event=elastic text=\"{}\"", kNoGuests);
  }
  manager.describe([&account = run.account, &options] {
    return fmt::format("{}: iteration {} of at most {}, L1 change {:.3g}", options.solve.matrix,
                       account.iterations.load(), options.solve.last_iteration(), account.residual_l1.load());
  });
  manager.ready();
  Producer producer(run, writer, options.publish.when_full, manager);
  const SolveEnd end = producer.run(kept);
  manager.stopping();
  if (end == SolveEnd::kAnalyzerGone) throw writer.error();
  writer.detach(outcome_of(end));
  return end;
}

/// Refuses options that this program accepts only for the baseline, because in the pipeline they are options of the
/// analyzer.
void refuse_analyzer_options(const CommandLine& line) {
  for (const char* name : {"--reduce", "--passes"}) {
    if (!line.is_given(name)) continue;
    throw usage_error(
        "{}: found with --mode pipeline, where the analyzer reduces; expected it among the options of "
        "ringside-analyzer",
        name);
  }
}

// The number of descriptors for the matrix and its cache, shared memory, the analyzer's socket and ZeroMQ's threads.
constexpr std::size_t kDescriptors = 64;

ExitCode run(const ProducerOptions& options) {
  ensure_descriptors(kDescriptors, "ringside-producer");
  if (options.publish.elastic) (void)lent_cores(options.process);  // so that it fails now, not after loading
  start_matrix_memory(options.solve);                              // must precede OpenMP's threads
  if (!options.process.cores.empty()) pin_openmp_threads(parse_core_list(options.process.cores, "--cores").cpus);

  // If `ringside run` started this process, the service manager watches `ringside run` instead.
  ServiceManager manager(options.process.report_fd < 0);
  manager.describe("loading " + options.solve.matrix);
  const std::int64_t load_begin = now_ns();
  Problem problem = load_problem(options.solve);
  const volatile int* const stop = catch_stop_signals();  // called only now, because loading needs no clean stop
  ProducerAccount account;
  account.load_ns.store(now_ns() - load_begin, std::memory_order_relaxed);

  Report report(options.process.report_fd);
  RunDescription loaded = problem.description;  // for the baseline; a run that attaches gets its own run_id
  loaded.problem_id = problem_id_with(loaded.problem_id, problem.solver->variables());
  report.write({{"event", "loaded"}, {"run", describe(loaded, problem.solver->variables())}});
  report.start([&account] {
    Json line = to_json(account);
    line["event"] = "progress";
    return line;
  });

  const std::optional<FarUse> loaded_with = far_use();
  if (loaded_with) {
    log_info(
        "event=matrix_memory place={} dram_limit_bytes={} far_bytes={} in_place_bytes={} load_faults={} "
        "load_fault_s={:.3f}",
        printable(options.solve.matrix_memory), options.solve.dram_limit_bytes, loaded_with->far_bytes,
        loaded_with->in_place_bytes, loaded_with->faults, static_cast<double>(loaded_with->fault_ns) * 1e-9);
  }
  Json final{{"matrix_format", problem.solver->format()}};
  ConvergenceCheck convergence(options.solve.tolerance, problem.solver->growth_limit(),
                               problem.solver->exhausted_criterion());
  const SolveRun run{*problem.solver, options.solve, stop, account, convergence};
  SolveEnd end = SolveEnd::kAnalyzerGone;
  const auto write_final = [&] {
    report.stop();
    final.update(to_json(account));
    final.update(far_account(options.solve, loaded_with));
    final["event"] = "final";
    report.write(final);
  };
  try {
    end = options.mode == Mode::kDram ? run_dram(options, run, final)
                                      : run_pipeline(options, run, stop, problem.description, report, manager);
  } catch (...) {
    write_final();  // also for a failed run
    throw;
  }
  write_final();
  refuse_solution(run, end);
  return exit_code_of(end);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  using namespace ringside;
  ProducerOptions options;
  CommandLine line("Runs a solver and publishes each iterate to a running ringside-analyzer.", "ringside-producer");
  declare(line, options.solve, solver_choices());
  declare(line, options.publish);
  declare(line, options.peer);
  declare(line, options.reduce);
  declare(line, options.mode);
  declare(line, options.process);
  line.declare_config_file();
  return run_program([&] {
    if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
    if (options.mode == Mode::kPipeline) refuse_analyzer_options(line);
    start_log("ringside-producer", options.process.log_level);
    library::link_messages(make_messages);
    return static_cast<int>(run(options));
  });
}
