// SPDX-License-Identifier: BSD-3-Clause
#include "cli/node/planning.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

#include "cli/node/matrix_memory_advice.hpp"
#include "common/platform/error.hpp"
#include "common/program/topology.hpp"
#include "common/text/printable.hpp"
#include "node/file/matrix_file.hpp"
#include "node/file/problem_of_solver.hpp"
#include "producer/matrix/grid.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/memory/matrix_memory.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

/// The tier whose folder is on the pool's file system.
const Tier* tier_of_pool(const Node& node, const std::string& pool) {
  const fs::path folder = fs::absolute(pool).parent_path();
  struct stat there {};
  if (stat(folder.c_str(), &there) != 0) return nullptr;
  for (const Tier& tier : node.tiers) {
    struct stat known {};
    if (!tier.path.empty() && stat(tier.path.c_str(), &known) == 0 && known.st_dev == there.st_dev) return &tier;
  }
  return nullptr;
}

/// In a node file that was written by hand: the only tier besides DRAM, or DRAM if no other tier exists. Else null.
const Tier* only_tier(const Node& node) {
  if (node.fingerprint || node.tiers.size() > 2) return nullptr;
  return &node.tiers.back();
}

/// The names of the tiers that can hold slots. In a measured file, DRAM cannot hold slots: it has no folder, so copies
/// into it were not measured.
std::string names_of_tiers(const Node& node) {
  std::string names;
  for (const Tier& tier : node.tiers) {
    if (node.fingerprint && tier.kind == TierKind::kDram) continue;
    names += (names.empty() ? "" : ", ") + printable(tier.name);
  }
  return names.empty() ? "none" : names;
}

const Tier& tier_for(const Node& node, const PlannedOptions& options) {
  for (const Tier& tier : node.tiers) {
    if (!options.memory.empty() && (tier.name == options.memory || tier.path == options.memory)) return tier;
  }
  if (!options.memory.empty()) {
    throw usage_error("--memory: found '{}', expected a memory of the node file: {}", shortened(options.memory),
                      names_of_tiers(node));
  }
  if (const Tier* tier = tier_of_pool(node, options.ring.pool)) return *tier;
  if (const Tier* tier = only_tier(node)) return *tier;
  throw usage_error(
      "--pool {}: the node file has no figures for the memory there, only for {}; measure that memory with `ringside "
      "calibrate --memory DIR` (or choose one that has figures with --memory of `ringside plan`)",
      printable(options.ring.pool), names_of_tiers(node));
}

std::optional<int> number_of_cores(const char* flag, const std::string& list) {
  if (list.empty()) return std::nullopt;
  return static_cast<int>(parse_core_list(list, flag).cpus.size());
}

/// The command that measures a problem.
std::string calibration_command(const ProblemSize& problem) {
  return fmt::format("ringside calibrate --matrix {}{}", printable(problem.matrix), solver_words(problem.solver));
}

/// The measured problem, but with the name and the file of the requested problem.
ProblemSize as_asked(ProblemSize measured, const ProblemSize& asked) {
  measured.matrix = asked.matrix;
  if (asked.file) measured.file = asked.file;
  return measured;
}

}  // namespace

std::string solver_words(const std::string& solver) {
  return solver == SolveOptions().solver ? "" : " --solver " + solver;
}

const char* reduce_word(const Configuration& configuration) noexcept {
  return configuration.reduce_on_transfer ? "transfer" : "slot";
}

std::string in_words(const Configuration& configuration) {
  return fmt::format("{} + {} cores, --reduce {}, --elastic {}", configuration.producer_threads,
                     configuration.analyzer_threads, reduce_word(configuration), configuration.elastic ? "on" : "off");
}

ProblemSize problem_size(const Node& node, const PlannedOptions& options, std::vector<std::string>& remarks) {
  ProblemSize size = problem_of_solver(options.solve.solver);
  size.matrix = options.solve.matrix;
  if (options.rows > 0) {
    size.rows = options.rows;
    size.nonzeros = options.nonzeros;
    return size;
  }
  size.file = matrix_file(size.matrix, options.solve.columns);
  const KernelFigures* before = nullptr;  // figures of the same file before it was changed
  for (const KernelFigures& figures : node.kernels) {
    const ProblemSize& known = figures.problem;
    if (known.matrix.empty() || known.solver != size.solver) continue;
    if (same_matrix(known, size)) return as_asked(known, size);
    if (known.file && size.file && known.file->path == size.file->path) before = &figures;
  }
  if (before != nullptr) {
    remarks.push_back(
        fmt::format("--matrix {}: the file was changed after it was measured, so it is planned as another problem of "
                    "the same size; `{}` measures it again",
                    printable(size.matrix), calibration_command(size)));
    return as_asked(before->problem, size);
  }
  const MatrixName name = matrix_name(size.matrix);
  if (name.grid_side) {
    size.rows = std::uint64_t{*name.grid_side} * *name.grid_side;
    size.nonzeros = grid_links_above(*name.grid_side, *name.grid_side);
    return size;
  }
  if (name.rmat) {  // if an edge occurs several times, it is kept only once
    remarks.emplace_back("the name of the matrix gives only an approximate number of nonzeros");
    size.rows = std::uint64_t{1} << name.rmat->scale;
    size.nonzeros = size.rows * name.rmat->edge_factor;
    return size;
  }
  throw usage_error(
      "--matrix {}: the node file has no figures for it with --solver {}; measure them with `{}` (or give `ringside "
      "plan` its size, by --rows and --nonzeros)",
      printable(size.matrix), size.solver, calibration_command(size));
}

PlanRequest plan_request(const Node& node, const PlannedOptions& options) {
  check_matrix_options(options.solve);
  const Tier& tier = tier_for(node, options);
  PlanRequest request;
  request.model.problem = problem_size(node, options, request.remarks);
  request.model.tier = tier.name;
  request.model.synced = tier.kind != TierKind::kDax && options.ring.durability == Durability::kPower;
  request.run.iterations = options.solve.last_iteration();
  request.run.every = options.solve.every;
  request.run.buffers = options.publish.buffers;
  request.run.slots = options.ring.slots;
  request.run.passes = options.reduce.passes;
  request.run.step_bytes =
      static_cast<double>(request.model.problem.rows) * request.model.problem.vectors * sizeof(double);
  request.producer_threads = number_of_cores("--producer-cores", options.cores.producer_cores);
  request.analyzer_threads = number_of_cores("--analyzer-cores", options.cores.analyzer_cores);
  if (options.solve.matrix_format != "auto") request.model.problem.format = options.solve.matrix_format;
  if (options.publish.coordination == CoordinationKind::kMessages) {
    request.remarks.emplace_back(
        "--coordination messages: the prediction is for locks, whose hand-off takes less time");
  }
  if (options.publish.when_full == WhenFull::kSkip) {
    request.remarks.emplace_back("--when-full skip: the prediction is for wait, which skips no step");
  }
  const ProblemSize& problem = request.model.problem;
  const std::optional<std::string> advice =
      matrix_memory_advice({.rows = problem.rows,
                            .nonzeros = problem.nonzeros,
                            .far_folder = far_folder(options.solve),
                            .dram_limit_bytes = options.solve.dram_limit_bytes,
                            .memory_bytes = node.fingerprint ? node.fingerprint->memory_bytes : 0});
  if (advice) request.remarks.push_back(*advice);
  if (options.elastic_given) request.elastic = options.publish.elastic;
  if (options.reduce_given) request.reduce_on_transfer = options.reduce.at == ReduceAt::kTransfer;
  return request;
}

}  // namespace ringside
