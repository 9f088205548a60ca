// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/problem.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "producer/matrix/matrix_checks.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/solver/linear_system.hpp"
#include "producer/solver/solver_table.hpp"

namespace ringside {
namespace {

// The order of additions within a row decides the last bits of an iterate. A release that changes this order
// (docs/inside/kernels.md) cannot continue another release's iterates bit for bit. 1: rows are added in column order;
// 2: long rows are added in eight lanes.
constexpr int kOrderOfAdditions = 2;

/// A hash of the matrix content, the solver, and every parameter that decides the iterates. It omits `--tolerance`,
/// `--iterations` and `--every`, which decide only how many iterates there are and which of them are kept, and
/// `--matrix-format`, which decides only the speed.
Id128 problem_id(const Id128& content_id, std::string_view solver, const std::string& parameters) {
  const std::string text =
      fmt::format("{} {} {} additions={}", to_string(content_id), solver, parameters, kOrderOfAdditions);
  return hash128(text.data(), text.size());
}

MatrixOptions matrix_of(const SolveOptions& options) {
  return {.matrix = options.matrix, .cache = options.cache, .cache_dir = options.cache_dir, .columns = options.columns};
}

/// Adds the files' names to an error, because the solver's message contains only rows.
Error naming_files(const Error& error, const SolveOptions& options) {
  if (const auto* const refused = dynamic_cast<const RefusedEntry*>(&error)) {
    return refused->in(options.matrix, find_in_text(matrix_of(options), *refused));
  }
  const std::string files = options.matrix + (options.rhs.empty() ? "" : " with --rhs " + options.rhs);
  return {error.code(), files + ": " + error.what()};
}

}  // namespace

Problem load_problem(const SolveOptions& options, Neighbours& neighbours, const LoadMatrix& load) {
  neighbours.together([&] { refuse_options_not_taken(solver_named(options.solver).choice, options); });
  const SolverEntry& solver = solver_named(options.solver);
  CsrMatrix matrix = load(matrix_of(options), solver.orientation);
  RightSide right_side;
  neighbours.together([&] {
    check_square(matrix, options.matrix);
    right_side = load_right_side(options.rhs);
  });
  const Id128 content_id = matrix.content_id;

  Problem problem;
  problem.first_row = matrix.first_row;
  problem.rows = matrix.rows;
  neighbours.word([&options](const Error& error) { return naming_files(error, options); });
  try {
    problem.solver = solver.make(std::move(matrix), std::move(right_side), options, neighbours);
  } catch (const AgreedError&) {
    throw;
  } catch (const Error& error) {
    throw naming_files(error, options);
  }
  neighbours.word(nullptr);

  RunDescription& run = problem.description;
  run.run_id = random_id();
  run.problem_id = problem_id(content_id, solver.choice.name, problem.solver->parameters());
  run.entries = problem.solver->rows();
  neighbours.in_order(run.nonzeros, [&](std::uint64_t& all) noexcept { all += problem.solver->nonzeros(); });
  run.started_realtime_ns = realtime_ns();
  assign(run.solver, solver.choice.name);
  assign(run.matrix, options.matrix);
  assign(run.parameters, problem.solver->parameters());
  return problem;
}

}  // namespace ringside
