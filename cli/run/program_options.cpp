// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/program_options.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "common/handoff/handoff_environment.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/program/topology.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr const char* kThreadsVariable = "OMP_NUM_THREADS";
// With `passive`, OpenMP's threads sleep between parallel regions. With its default they spin for a while, on cores
// that are then lent.
constexpr const char* kWaitVariable = "OMP_WAIT_POLICY";

// With these variables, the launcher of Open MPI starts more ranks than there are cores, binds none of them, and lets
// waiting ranks yield their core (first the variables of Open MPI 4, then those of 5). MPICH's launcher does this by
// default.
constexpr std::pair<const char*, const char*> kSharedCores[] = {
    {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
    {"OMPI_MCA_hwloc_base_binding_policy", "none"},
    {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
    {"PRTE_MCA_hwloc_default_binding_policy", "none"},
    {"OMPI_MCA_mpi_yield_when_idle", "1"},
};

// The options of a built-in solver that are not in SolveOptions: options that only our producer has, and options of
// predictions.
constexpr const char* kSolverOptions[] = {"--mode", "--when-full", "--node", "--adapt"};

}  // namespace

void refuse_solver_options(const CommandLine& line, const std::string& program) {
  std::vector<std::string> names;
  for (const std::string& argument : line.arguments_given<SolveOptions>()) {
    names.push_back(argument.substr(0, argument.find('=')));
  }
  for (const char* name : kSolverOptions) {
    if (line.is_given(name)) names.emplace_back(name);
  }
  if (names.empty()) return;
  throw usage_error(
      "{}: found before `-- {}`, expected no option of a built-in solver there; the program's own options follow its "
      "name",
      joined(names, ", "), shortened(program));
}

void complete_analyzer_arguments(std::vector<std::string>& arguments, const RunOptions& options,
                                 const std::string& socket, const CorePlan& cores) {
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"--pool=", options.ring.pool},
                                    {"--reduce=", to_string(options.reduce.at)}}) {
    std::erase_if(arguments, [&name = name](const std::string& argument) { return argument.starts_with(name); });
    arguments.push_back(name + value);
  }
  arguments.insert(arguments.end(),
                   {"--supervised", "--socket=" + socket, "--cores=" + to_string(CoreList{cores.analyzer})});
  if (cores.oversubscribed_one_core) arguments.emplace_back("--shared-core");
}

std::vector<std::pair<std::string, std::string>> rank_environment(const PublishOptions& publish, const PeerOptions& peer,
                                                                  const ProgramPlaces& places) {
  std::vector<std::pair<std::string, std::string>> variables =
      environment_of({.socket = places.socket,
                      .coordination = publish.coordination,
                      .buffers = publish.buffers,
                      .peer_timeout_s = peer.timeout_s,
                      .pool_use = publish.pool_use(),
                      .on_analyzer_loss = publish.on_analyzer_loss,
                      .elastic = publish.elastic});
  variables.emplace_back(kPoolVariable, std::filesystem::absolute(places.pool).string());
  // The variable is always set, because this process may have inherited another run's value.
  variables.emplace_back(kResumeFromVariable,
                         places.resume_from.empty() ? "" : std::filesystem::absolute(places.resume_from).string());
  return variables;
}

std::vector<std::pair<std::string, std::string>> program_environment(const PublishOptions& publish,
                                                                     const PeerOptions& peer, const ProgramPlaces& places,
                                                                     const std::vector<int>& cores, int ranks) {
  std::vector<std::pair<std::string, std::string>> variables = rank_environment(publish, peer, places);
  variables.emplace_back(kCoresVariable, to_string(CoreList{cores}));
  if (environment_value(kThreadsVariable) == nullptr) {
    const std::size_t each = std::max<std::size_t>(cores.size() / static_cast<std::size_t>(std::max(ranks, 1)), 1);
    variables.emplace_back(kThreadsVariable, std::to_string(each));
  }
  if (publish.elastic && environment_value(kWaitVariable) == nullptr) variables.emplace_back(kWaitVariable, "passive");
  if (ranks > static_cast<int>(cores.size())) {
    for (const auto& [name, value] : kSharedCores) {
      if (std::getenv(name) == nullptr) variables.emplace_back(name, value);
    }
  }
  return variables;
}

}  // namespace ringside
