// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/node_rank.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <optional>

#include "cli/run/program_options.hpp"
#include "cli/supervision/runtime_folder.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"
#include "common/platform/names.hpp"
#include "common/platform/process.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"
#include "producer/matrix/matrix_source.hpp"

namespace ringside {
namespace {

/// The variables in which launchers pass the number of a process on its node: those of Open MPI, MPICH and Intel MPI,
/// MVAPICH, and Slurm, in this order. Slurm's variable is the last, because programs that a batch script starts inherit
/// the script's value.
constexpr std::array<const char*, 4> kLocalRankVariables = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                                           "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"};

/// The variables in which the same launchers pass the number of a process in the whole job.
constexpr std::array<const char*, 4> kJobRankVariables = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
                                                         "SLURM_PROCID"};

/// Lets this process run on all cores that the node allows. Returns the cores to which the process was bound before, in
/// ascending order.
std::vector<int> leave_binding() {
  cpu_set_t bound;
  CPU_ZERO(&bound);
  if (sched_getaffinity(0, sizeof bound, &bound) != 0) return {};
  std::vector<int> cpus;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &bound)) cpus.push_back(cpu);
    CPU_SET(static_cast<std::size_t>(cpu), &all);
  }
  sched_setaffinity(0, sizeof all, &all);  // the kernel ignores cores that are missing or not allowed
  return cpus;
}

}  // namespace

CorePlan cores_of_rank(const RunOptions& options) {
  if (options.cores.analyzer_cores.empty()) return cores_for(options);
  const std::vector<int> bound = leave_binding();
  CorePlan plan = cores_for(options);
  if (!options.cores.producer_cores.empty()) return plan;
  std::vector<int> apart;
  std::ranges::set_difference(bound, plan.analyzer, std::back_inserter(apart));
  plan.producer = apart.empty() ? bound : apart;
  return plan;
}

void check_rank_options(const RunOptions& options) {
  if (options.publish.elastic && (options.ranks > 0 || options.per_node)) {
    throw usage_error(
        "--elastic on: found with {}, expected --elastic off: ranks do not lend their cores, because while one rank "
        "waits, others may compute on the same cores",
        options.per_node ? "--per-node" : "--ranks");
  }
  if (options.ranks == 0 && !options.hosts.empty()) {
    throw usage_error("--hosts: found without --ranks, expected --ranks with the number of ranks");
  }
  if (!options.hosts.empty() && (!options.summary.empty() || !options.analyze.empty())) {
    throw usage_error("{}: found with --hosts, expected no such option, because each node has its own account",
                      options.summary.empty() ? "--analyze" : "--summary");
  }
  if (!options.resume_from.empty() && options.ranks == 0 && !options.per_node) {
    throw usage_error(
        "--resume-from: found without --ranks and --per-node, expected one of them; a run of one process continues "
        "from its own pool with --resume");
  }
  if (options.ranks > 0 && options.per_node) {
    throw usage_error(
        "--ranks, --per-node: found both, expected one of them; --per-node is for commands that mpirun starts");
  }
}

void take_solver_of_ranks(const CommandLine& line, RunOptions& options) {
  const std::string ranks = options.per_node ? "--per-node" : "--ranks";
  const auto refuse_if = [&](bool is_so, std::string_view found, std::string_view expected) {
    if (is_so) throw usage_error("{}: found with {}, expected {}", found, ranks, expected);
  };
  refuse_if(options.mode == Mode::kDram, "--mode dram", "--mode pipeline: the baseline is one process");
  refuse_if(options.publish.when_full == WhenFull::kSkip, "--when-full skip",
            "--when-full wait: no node may skip a step that others keep");
  refuse_if(options.publish.on_analyzer_loss == OnAnalyzerLoss::kContinue, "--on-analyzer-loss continue",
            "wait or stop: no node may skip a step that others keep");
  refuse_if(options.publish.coordination != CoordinationKind::kLocks, "--coordination messages",
            "--coordination locks: ranks of a node share counters");
  refuse_if(options.solve.matrix_memory != "dram", "--matrix-memory",
            "--matrix-memory dram: each rank has a part of the matrix");
  for (const char* option : {"--cores", "--node", "--adapt"}) {
    refuse_if(line.is_given(option), option, "no such option: the model predicts runs of one process");
  }
  const std::string program = sibling("ringside-producer-mpi");
  if (access(program.c_str(), X_OK) != 0) {
    throw system_error("{}: found no program {} ({}); expected the package ringside-mpi, or a build with "
                       "RINGSIDE_BUILD_MPI", ranks, program, errno_text(errno));
  }
  check_matrix_name(options.solve.matrix, options.solve.columns);
  options.program = {program};
  const std::vector<std::string> given = line.arguments_given<SolveOptions>();
  options.program.insert(options.program.end(), given.begin(), given.end());
  options.built_in_program = true;
}

std::vector<std::string> ranks_command(const CommandLine& line, const RunOptions& options) {
  std::vector<std::string> words = {"mpirun", "-n", std::to_string(options.ranks)};
  if (!options.hosts.empty()) {
    words.insert(words.end(), {"--hostfile", options.hosts, sibling("ringside"), "run", "--per-node"});
    const std::vector<std::string> given =
        line.arguments_given<PublishOptions, PeerOptions, RingOptions, JournalOptions, TelemetryOptions, ReduceOptions,
                             PlugInOptions, TriggerOptions, CoreOptions>();
    words.insert(words.end(), given.begin(), given.end());
    if (options.quiet) words.emplace_back("--quiet");
    if (!options.resume_from.empty()) words.push_back("--resume-from=" + options.resume_from);
    words.emplace_back("--");
  }
  words.insert(words.end(), options.program.begin(), options.program.end());
  return words;
}

int rank_on_node() {
  for (const char* name : kLocalRankVariables) {
    const char* value = environment_value(name);
    if (value == nullptr) continue;
    const std::optional<std::uint64_t> number = whole_number(value);
    if (!number || *number > 1'000'000) {
      throw usage_error("{}: found '{}', expected the number of this process on its node", name, shortened(value));
    }
    return static_cast<int>(*number);
  }
  throw usage_error("--per-node: found none of {}, {}, {}, {}; expected a start by mpirun or srun",
                    kLocalRankVariables[0], kLocalRankVariables[1], kLocalRankVariables[2], kLocalRankVariables[3]);
}

bool is_first_of_job() {
  for (const char* name : kJobRankVariables) {
    if (const char* value = environment_value(name)) return whole_number(value).value_or(0) == 0;
  }
  return true;
}

std::string node_folder_name() {
  // On each node, the launcher's process is the parent of all ranks. A later process may get the number of the
  // launcher's process, so the key also contains the start time.
  const std::string key = formatted("{} {}", getppid(), start_of(getppid()));
  return to_string(hash128(key.data(), key.size())).substr(0, RuntimeFolder::kNameLetters);
}

void become(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  throw usage_error("{}: cannot be started: {}; expected a program in PATH or a path", shortened(words.front()),
                    errno_text(errno));
}

void become_program(const RunOptions& options) {
  const std::string socket = RuntimeFolder::socket_named(node_folder_name());
  for (const auto& [name, value] :
       rank_environment(options.publish, options.peer, {socket, with_host(options.ring.pool), options.resume_from})) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  become(options.program);
}

}  // namespace ringside
