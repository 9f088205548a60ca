// SPDX-License-Identifier: BSD-3-Clause
// The options of `ringside run` beside a program of the user's: those that belong to a built-in solver are refused, and
// those of the hand-off reach the program through its environment.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/options/command_line.hpp"
#include "common/options/options.hpp"

namespace ringside {

/// Throws Error (exit code 2) that names every option given, by flag or file, that belongs to a built-in solver.
/// program: as it was given.
void refuse_solver_options(const CommandLine& line, const std::string& program);

/// What a program finds, under paths that are absolute or relative to this process's folder.
struct ProgramPlaces {
  std::string socket;
  std::string pool;
  std::string resume_from = {};  // rings of an earlier job; empty: none
};

/// The variables of the program. cores: the producer's, for `ranks` processes, which share them if they are more: then
/// the launcher is told to start them all the same. OMP_NUM_THREADS and the launcher's variables are left as they are
/// if set.
std::vector<std::pair<std::string, std::string>> program_environment(const PublishOptions& publish,
                                                                     const PeerOptions& peer, const ProgramPlaces& places,
                                                                     const std::vector<int>& cores, int ranks);

/// The same for one rank of several, whose launcher has decided about its cores: without RINGSIDE_CORES and
/// OMP_NUM_THREADS. The pool is the node's.
std::vector<std::pair<std::string, std::string>> rank_environment(const PublishOptions& publish, const PeerOptions& peer,
                                                                  const ProgramPlaces& places);

}  // namespace ringside
