// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/node_rank.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include "cli/run/program_options.hpp"
#include "cli/supervision/runtime_folder.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/decimal.hpp"
#include "common/platform/error.hpp"
#include "common/platform/printable.hpp"

namespace ringside {
namespace {

/// Open MPI, MPICH and Intel MPI, Slurm, MVAPICH: each names a process's number on its node in a variable of its own.
constexpr std::array<const char*, 4> kLocalRankVariables = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                                           "SLURM_LOCALID", "MV2_COMM_WORLD_LOCAL_RANK"};

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

void check_rank_options(const RunOptions& options) {
  if (options.ranks == 0 && !options.hosts.empty()) {
    throw usage_error("--hosts: found without --ranks, expected the number of ranks beside it");
  }
  if (options.ranks > 0 && options.per_node) {
    throw usage_error("--ranks, --per-node: found both, expected one of them: --per-node is for what mpirun starts");
  }
  if ((options.ranks > 0 || options.per_node) && options.program.empty()) {
    throw usage_error("{}: found without `-- PROGRAM`, expected a program that links libringside_mpi: the built-in solvers "
                      "run as one process",
                      options.per_node ? "--per-node" : "--ranks");
  }
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
    words.emplace_back("--");
  }
  words.insert(words.end(), options.program.begin(), options.program.end());
  return words;
}

int rank_on_node() {
  for (const char* name : kLocalRankVariables) {
    const char* value = variable(name);
    if (value == nullptr) continue;
    const std::optional<std::uint64_t> number = whole_number(value);
    if (!number || *number > 1'000'000) {
      throw usage_error("{}: found '{}', expected the number of this process on its node", name, shortened(value));
    }
    return static_cast<int>(*number);
  }
  throw usage_error("--per-node: found none of {}, {}, {}, {}; expected to be started by mpirun or srun",
                    kLocalRankVariables[0], kLocalRankVariables[1], kLocalRankVariables[2], kLocalRankVariables[3]);
}

std::string node_folder_name() {
  // The launcher's process on this node is the parent of all. Its number may be given to a later process: hence its
  // beginning, which its folder in /proc has.
  struct stat parent {};
  const std::string path = formatted("/proc/{}", getppid());
  const bool is_found = stat(path.c_str(), &parent) == 0;
  const std::string key = formatted("{} {} {}", getppid(), is_found ? parent.st_ctim.tv_sec : 0,
                                    variable("SLURM_STEP_ID") != nullptr ? variable("SLURM_STEP_ID") : "");
  return to_string(hash128(key.data(), key.size())).substr(0, RuntimeFolder::kNameLetters);
}

std::string with_host(const std::string& path) {
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) throw system_error("cannot read this node's name: {}", errno_text(errno));
  std::string found = path;
  for (std::size_t at = found.find("%h"); at != std::string::npos; at = found.find("%h", at)) {
    found.replace(at, 2, host);
    at += std::string_view(host).size();
  }
  return found;
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
       rank_environment(options.publish, options.peer, socket, with_host(options.ring.pool))) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  become(options.program);
}

}  // namespace ringside
