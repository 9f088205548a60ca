// SPDX-License-Identifier: BSD-3-Clause
// `ringside run` for a program of several MPI ranks (docs/publish/mpi.md): with --ranks, it starts the ranks by mpirun.
// With --per-node, the launcher starts `ringside run` once for each rank, and the ranks of a node share one analyzer.
#pragma once

#include <string>
#include <vector>

#include "cli/run/run_options.hpp"
#include "common/options/command_line.hpp"

namespace ringside {

/// Throws Error (exit code 2) for a meaningless combination of options.
void check_rank_options(const RunOptions& options);

/// With --ranks or --per-node and without PROGRAM: `options.program` becomes the built-in solver's program for several
/// ranks, with the options of problem and solver. Throws Error: exit code 2 for options that this program does not
/// have, 3 if it is not installed.
void take_solver_of_ranks(const CommandLine& line, RunOptions& options);

/// With --ranks: the command that starts `options.program` with this number of ranks. With --hosts, each rank is a
/// `ringside run --per-node` with the given options.
std::vector<std::string> ranks_command(const CommandLine& line, const RunOptions& options);

/// With --per-node: the number of this process among the processes that the launcher started on this node. Throws Error
/// (exit code 2) if no launcher provides this number.
int rank_on_node();

/// With --per-node: whether this process is the first of the whole job. True if no launcher provides this process's
/// number in the job.
bool is_first_of_job();

/// The name of the runtime folder for all processes that one launcher has started on this node.
std::string node_folder_name();

/// With --per-node: the rank keeps the cores to which the launcher bound it. The analyzer gets --analyzer-cores, which
/// may be any cores of the node, or some of the rank's cores. Throws Error as cores_for does.
CorePlan cores_of_rank(const RunOptions& options);

/// Replaces this process by another program. Throws Error (exit code 2) if that program cannot be executed.
[[noreturn]] void become(std::vector<std::string> words);

/// For --per-node, in a rank that is not the first of its node: replaces this process by the rank's program, with a
/// rank's environment.
[[noreturn]] void become_program(const RunOptions& options);

}  // namespace ringside
