// ringside-producer: loads the matrix, attaches to the analyzer, solves, publishes each iterate. One run, one process.
#include <spdlog/spdlog.h>

#include <limits>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/handoff_writer.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/program.hpp"
#include "common/reduction_json.hpp"
#include "common/report.hpp"
#include "common/stop_signal.hpp"
#include "common/topology.hpp"
#include "producer/account.hpp"
#include "producer/baseline.hpp"
#include "producer/problem.hpp"
#include "producer/producer.hpp"

namespace ringside {
namespace {

struct ProducerOptions {
  SolveOptions solve;
  PublishOptions publish;
  ReduceOptions reduce;  // the baseline's
  Mode mode = Mode::kPipeline;
  ProcessOptions process;
};

ExitCode exit_code_of(SolveEnd end) {
  switch (end) {
    case SolveEnd::kConverged:
    case SolveEnd::kIterationsDone: return ExitCode::kDone;
    case SolveEnd::kDiverged: return ExitCode::kUsage;
    case SolveEnd::kInterrupted: return ExitCode::kInterrupted;
    case SolveEnd::kAnalyzerLost:
    case SolveEnd::kAnalyzerStalled:
    case SolveEnd::kAnalyzerFailed: break;
  }
  return ExitCode::kPeerLost;
}

Outcome outcome_of(SolveEnd end) {
  switch (end) {
    case SolveEnd::kConverged:
    case SolveEnd::kIterationsDone: return Outcome::kFinished;
    case SolveEnd::kInterrupted: return Outcome::kInterrupted;
    case SolveEnd::kDiverged: return Outcome::kDiverged;
    case SolveEnd::kAnalyzerLost:
    case SolveEnd::kAnalyzerStalled:
    case SolveEnd::kAnalyzerFailed: break;
  }
  return Outcome::kFailed;
}

nlohmann::json describe(const RunDescription& run) {
  return {{"run_id", to_string(run.run_id)}, {"problem_id", to_string(run.problem_id)}, {"solver", text_of(run.solver)},
          {"matrix", text_of(run.matrix)},   {"parameters", text_of(run.parameters)},   {"rows", run.rows},
          {"nonzeros", run.nonzeros}};
}

Error divergence_error(const SolveOptions& options, const ProducerAccount& account,
                       const ConvergenceCheck& convergence) {
  const double growth = convergence.growth_per_iteration().value_or(std::numeric_limits<double>::infinity());
  return usage_error(
      "{}: {} diverges: after {} iterations the L1 change is {:.3g} and grows by a factor of about {:.3g} per "
      "iteration; "
      "a matrix whose iteration matrix has a spectral radius below 1 would be accepted (a diagonally dominant one has)",
      options.matrix, options.solver, account.iterations.load(), account.residual_l1.load(), growth);
}

/// The baseline: no hand-off, no ring.
SolveEnd run_dram(const ProducerOptions& options, Problem& problem, ProducerAccount& account,
                  ConvergenceCheck& convergence, const std::atomic<bool>& stop, nlohmann::json& final) {
  const BaselineResult result =
      run_baseline(*problem.solver, options.solve, options.reduce.passes, stop, account, convergence);
  final["analyze_s"] = static_cast<double>(result.analyze_ns) * 1e-9;
  final["analysis_ended_ns"] = result.ended_ns;
  final["reduce"] = options.reduce.reduce;
  final["passes"] = options.reduce.passes;
  final["last"] = to_json(result.last, result.last_iteration);
  return result.end;
}

/// Publishes every step and waits for the analyzer's farewell.
SolveEnd run_pipeline(const ProducerOptions& options, Problem& problem, ProducerAccount& account,
                      ConvergenceCheck& convergence, const std::atomic<bool>& stop) {
  HandoffOptions handoff_options{.socket = options.process.socket,
                                 .buffers = options.publish.buffers,
                                 .peer_timeout_s = options.publish.peer_timeout_s,
                                 .overwrite = options.publish.overwrite,
                                 .stop = &stop};
  if (options.process.shared_core) handoff_options.spin_ns = 0;
  HandoffWriter handoff(handoff_options, problem.description);
  spdlog::info("event=attached run_id={} socket={}", to_string(problem.description.run_id), options.process.socket);

  Producer producer(*problem.solver, handoff, options.solve, options.publish.when_full, stop, account);
  const SolveEnd end = producer.run();
  convergence = producer.convergence();
  if (end == SolveEnd::kAnalyzerLost || end == SolveEnd::kAnalyzerFailed) {
    if (const auto farewell = handoff.farewell(); farewell && farewell->exit_code != 0) {
      throw Error(static_cast<ExitCode>(farewell->exit_code), std::string(text_of(farewell->message)));
    }
    throw peer_error("the analyzer was lost after {} steps were published; what it had committed is in the pool",
                     handoff.published());
  }
  if (end == SolveEnd::kAnalyzerStalled) {
    throw peer_error("the analyzer made no progress for {} s (--peer-timeout), after {} steps were published",
                     options.publish.peer_timeout_s, handoff.published());
  }
  handoff.detach(outcome_of(end));
  return end;
}

ExitCode run(const ProducerOptions& options) {
  if (!options.process.cores.empty()) pin_openmp_threads(parse_core_list(options.process.cores, "--cores").cpus);

  const std::int64_t load_begin = now_ns();
  Problem problem = load_problem(options.solve);
  const std::atomic<bool>& stop = catch_stop_signals();  // while it loads there is nothing to stop cleanly
  ProducerAccount account;
  account.load_ns.store(now_ns() - load_begin, std::memory_order_relaxed);

  Report report(options.process.report_fd);
  report.write({{"event", "loaded"}, {"run", describe(problem.description)}});
  report.start([&account] {
    nlohmann::json line = to_json(account);
    line["event"] = "progress";
    return line;
  });

  nlohmann::json final;
  ConvergenceCheck convergence(options.solve.tolerance);
  SolveEnd end = SolveEnd::kAnalyzerLost;
  const auto write_final = [&] {
    report.stop();
    final.update(to_json(account));
    final["event"] = "final";
    report.write(final);
  };
  try {
    end = options.mode == Mode::kDram ? run_dram(options, problem, account, convergence, stop, final)
                                      : run_pipeline(options, problem, account, convergence, stop);
  } catch (...) {
    write_final();  // the account of a run that failed is still an account
    throw;
  }
  write_final();
  if (end == SolveEnd::kDiverged) throw divergence_error(options.solve, account, convergence);
  return exit_code_of(end);
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  using namespace ringside;
  ProducerOptions options;
  CLI::App app("Runs a solver and publishes each iterate to a running ringside-analyzer.", "ringside-producer");
  app.set_version_flag("--version", RINGSIDE_VERSION);
  declare(app, options.solve);
  declare(app, options.publish);
  declare(app, options.reduce);
  declare(app, options.mode);
  declare(app, options.process);
  declare_config_file(app);
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;
  return run_program([&] {
    start_log("ringside-producer", options.process.log_level);
    return static_cast<int>(run(options));
  });
}
