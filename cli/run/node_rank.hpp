// SPDX-License-Identifier: BSD-3-Clause
// `ringside run` for a program of several MPI ranks (docs/publish/mpi.md): with --ranks it starts them by mpirun. With
// --per-node the launcher starts it once for each rank, and the ranks of a node share one analyzer.
#pragma once

#include <string>
#include <vector>

#include "cli/run/run_options.hpp"
#include "common/options/command_line.hpp"

namespace ringside {

/// Throws Error (exit code 2) for a meaningless combination of options.
void check_rank_options(const RunOptions& options);

/// With --ranks or --per-node and without PROGRAM: `options.program` becomes the built-in solver's program for several
/// ranks, with the options of problem and solver. Throws Error (exit code 2) for options that ranks do not have, and
/// (3) if that program is not installed.
void take_solver_of_ranks(const CommandLine& line, RunOptions& options);

/// With --ranks: the command that starts `options.program` on that many ranks. With --hosts each rank is a `ringside
/// run --per-node` with the given options.
std::vector<std::string> ranks_command(const CommandLine& line, const RunOptions& options);

/// With --per-node: this process's number among those that the launcher started on this node. Throws Error (exit code
/// 2) if no launcher provides it.
int rank_on_node();

/// With --per-node: whether this process is the first of the whole job. True if no launcher provides its number.
bool is_first_of_job();

/// The name of the runtime folder for all processes that one launcher has started on this node.
std::string node_folder_name();

/// With --per-node: the rank keeps the cores to which the launcher bound it. The analyzer gets --analyzer-cores, which
/// may be any cores of the node, or some of the rank's. Throws Error as cores_for.
CorePlan cores_of_rank(const RunOptions& options);

/// Becomes another program. If that cannot be executed, throws Error (exit code 2).
[[noreturn]] void become(std::vector<std::string> words);

/// The same for --per-node, for a rank that is not the node's first: becomes its program, with a rank's environment.
[[noreturn]] void become_program(const RunOptions& options);

}  // namespace ringside
