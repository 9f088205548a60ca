// SPDX-License-Identifier: BSD-3-Clause
// `ringside run` where a program runs as several MPI ranks (docs/publish/mpi.md): with --ranks it starts them by
// mpirun, with
// --per-node it is itself started once for each rank, and the ranks of a node share one analyzer.
#pragma once

#include <string>
#include <vector>

#include "cli/run/run_options.hpp"
#include "common/options/command_line.hpp"
#include "common/platform/process.hpp"

namespace ringside {

/// Throws Error (exit code 2) for a combination of options that has no meaning.
void check_rank_options(const RunOptions& options);

/// With --ranks or --per-node and without PROGRAM: the built-in solver's program for several ranks becomes
/// `options.program`, with the options of the problem and the solver. Throws Error (exit code 2) for options that ranks
/// do not have, and (3) if that program is not installed.
void take_solver_of_ranks(const CommandLine& line, RunOptions& options);

/// With --ranks: the words that start `options.program` on that many ranks. With --hosts each rank is a `ringside run
/// --per-node` with the options given.
std::vector<std::string> ranks_command(const CommandLine& line, const RunOptions& options);

/// With --per-node: the number of this process among those that the launcher has started on this node. Throws Error
/// (exit code 2) if no launcher tells it.
int rank_on_node();

/// With --per-node: whether this process is the first one of the whole job. True if no launcher tells it.
bool is_first_of_job();

/// The name of the runtime folder that all processes of this node's part of the job find: the same for all that one
/// launcher has started.
std::string node_folder_name();

/// With --per-node: the rank keeps the cores that the launcher has bound it to. The analyzer gets --analyzer-cores,
/// which may be any of the node's, or a part of the rank's. Throws Error as cores_for.
CorePlan cores_of_rank(const RunOptions& options);

/// Becomes another program. Returns only to throw Error (exit code 2) if that cannot be executed.
[[noreturn]] void become(std::vector<std::string> words);

/// The same for --per-node, on a rank that is not the node's first: its program, with the environment of a rank.
[[noreturn]] void become_program(const RunOptions& options);

}  // namespace ringside
