// SPDX-License-Identifier: BSD-3-Clause
// ringside-producer-mpi: one rank of a run in which a built-in solver runs as several ranks (docs/publish/mpi.md).
// `ringside run --ranks` starts it. Like any solver of several ranks, it finds its analyzer through the environment.
#include <mpi.h>

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "common/handoff/handoff_environment.hpp"
#include "common/kernels/float_environment.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/program/log.hpp"
#include "common/program/program.hpp"
#include "common/program/service_manager.hpp"
#include "common/program/stop_signal.hpp"
#include "common/program/topology.hpp"
#include "mpi/solvers/rank_matrix.hpp"
#include "mpi/solvers/rank_neighbours.hpp"
#include "mpi/solvers/rank_run.hpp"
#include "producer/account.hpp"
#include "producer/producer.hpp"
#include "producer/solve_loop.hpp"
#include "producer/solver/problem.hpp"
#include "producer/solver/solver_table.hpp"

namespace ringside::mpi {
namespace {

constexpr const char* kName = "ringside-producer-mpi";

/// Divides the producer's cores among the ranks of this machine, if there is a core for each rank. Otherwise the ranks
/// keep the cores that the launcher has chosen.
void take_cores(const PlaceOnMachine& place) {
  const char* given = environment_value(kCoresVariable);
  if (given == nullptr) return;
  const std::vector<int> cores = parse_core_list(given, kCoresVariable).cpus;
  const std::size_t each = cores.size() / static_cast<std::size_t>(place.ranks);
  if (each == 0) return;
  const auto first = cores.begin() + static_cast<std::ptrdiff_t>(each * static_cast<std::size_t>(place.rank));
  pin_openmp_threads({first, first + static_cast<std::ptrdiff_t>(each)});
}

/// Refuses far memory, because its limit and its file are for one process only.
void check_options(const SolveOptions& options) {
  if (options.matrix_memory == "dram") return;
  throw usage_error("--matrix-memory: found '{}' with several ranks, expected dram: each rank has a part of the matrix",
                    options.matrix_memory);
}

ExitCode run(const SolveOptions& options, RankNeighbours& ranks) {
  const PlaceOnMachine on_machine = ranks.place_on_machine();
  ranks.together([&] {
    check_options(options);
    take_cores(on_machine);
  });
  const std::int64_t load_begin = now_ns();
  const Problem problem = load_problem(options, ranks, [&ranks](const MatrixOptions& matrix, Orientation orientation) {
    return load_rank_matrix(matrix, orientation, ranks);
  });
  log_info("event=loaded rank={} rows={} nonzeros={} matrix_format={} seconds={:.3f}", ranks.rank(), problem.rows,
           problem.solver->nonzeros(), problem.solver->format(), static_cast<double>(now_ns() - load_begin) * 1e-9);
  RankRun rank_run(ranks.communicator(), problem);
  std::vector<std::uint64_t> offsets;
  for (const VariablePlace& place : rank_run.places()) offsets.push_back(place.offset);
  problem.solver->lie_at(offsets);

  ProducerAccount account;
  ConvergenceCheck convergence(options.tolerance, problem.solver->growth_limit(),
                               problem.solver->exhausted_criterion());
  // Signals are caught only now, because no clean stop is needed during loading.
  const SolveRun solve_run{*problem.solver, options, ranks.agree_on(catch_stop_signals()), account, convergence};
  std::optional<ContinuedStep> kept;
  ranks.together([&] { kept = rank_run.kept(); });
  ServiceManager manager(false);
  Producer producer(solve_run, rank_run, WhenFull::kWait, manager);
  const SolveEnd end = producer.run(kept);
  if (const std::optional<Error> failure = rank_run.failure()) throw *failure;
  ranks.receive();  // the messages of the last iteration
  rank_run.detach(outcome_of(end));
  log_info("event=ended rank={} iteration={} converged={} seconds={:.6f}", ranks.rank(), account.iterations.load(),
           account.converged.load(), static_cast<double>(account.ended_ns - account.begun_ns) * 1e-9);
  ranks.together([&] { refuse_solution(solve_run, end); });
  return exit_code_of(end);
}

/// If an error ends all ranks in the same way, the first rank reports it. An error of only one rank ends the job.
int run_rank(const SolveOptions& options) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  set_default_floats();  // after MPI_Init, because MPI loads further libraries
  RankNeighbours ranks(MPI_COMM_WORLD);
  int code = 0;
  try {
    code = static_cast<int>(run(options, ranks));
  } catch (const AgreedError& error) {
    code = static_cast<int>(error.code());
    if (ranks.rank() == 0) print_failure("ringside", code, error.what());
  } catch (const std::exception&) {
    code = fail_with_caught();
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  MPI_Finalize();
  return code;
}

}  // namespace
}  // namespace ringside::mpi

int main(int argc, char** argv) {
  using namespace ringside;
  SolveOptions options;
  std::string log_level = "warning";
  CommandLine line(
      "Runs a solver as one of several MPI ranks, and publishes each iterate to its node's ringside-analyzer.", mpi::kName);
  declare(line, options, solver_choices());
  line.options_of<ProcessOptions>("Process")
      .option("--log-level", log_level,
              "trace, debug, info, warning, error or off (default: the value of RINGSIDE_LOG_LEVEL)")
      .environment("RINGSIDE_LOG_LEVEL")
      .value_name("LEVEL");
  return run_program([&] {
    if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;
    start_log(mpi::kName, log_level);
    return mpi::run_rank(options);
  });
}
