// SPDX-License-Identifier: BSD-3-Clause
// The options of `ringside run` with a program of the user: options of a built-in solver are refused, and options of
// the hand-off reach the program through its environment.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/run/run_options.hpp"
#include "common/options/command_line.hpp"
#include "common/options/options.hpp"

namespace ringside {

/// Throws Error (exit code 2) that names all given options, from the command line or a file, of a built-in solver.
/// program: the program's name as the user gave it.
void refuse_solver_options(const CommandLine& line, const std::string& program);

/// Adds to the analyzer's options of a run what determines this run: pool, --reduce, socket and cores.
void complete_analyzer_arguments(std::vector<std::string>& arguments, const RunOptions& options,
                                 const std::string& socket, const CorePlan& cores);

/// The paths passed to a program, absolute or relative to this process's folder.
struct ProgramPlaces {
  std::string socket;
  std::string pool;
  std::string resume_from = {};  // rings of an earlier job; empty: none
};

/// The environment variables of the program. cores: the producer's cores, for `ranks` processes. If there are more
/// ranks than cores, the ranks share the cores, and variables allow the launcher to do that. OMP_NUM_THREADS,
/// OMP_WAIT_POLICY and the launcher's variables keep their values if they are set.
std::vector<std::pair<std::string, std::string>> program_environment(const PublishOptions& publish,
                                                                     const PeerOptions& peer, const ProgramPlaces& places,
                                                                     const std::vector<int>& cores, int ranks);

/// The environment variables of one of several ranks, without RINGSIDE_CORES and OMP_NUM_THREADS, because the launcher
/// chose the rank's cores. places.pool is the pool of the node.
std::vector<std::pair<std::string, std::string>> rank_environment(const PublishOptions& publish, const PeerOptions& peer,
                                                                  const ProgramPlaces& places);

}  // namespace ringside
