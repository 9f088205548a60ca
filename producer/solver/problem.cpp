#include "producer/solver/problem.hpp"

#include <utility>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "producer/matrix/matrix_checks.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/solver/jacobi.hpp"
#include "producer/solver/pagerank.hpp"

namespace ringside {
namespace {

// The order of additions within a row decides the last bits of an iterate: a release that changes it (docs/kernels.md)
// cannot continue, bit for bit, what another one has kept. 1: in column order; 2: long rows in eight lanes.
constexpr int kOrderOfAdditions = 2;

/// Hash of the matrix content, the solver, and every parameter that decides the iterates. `--tolerance`, `--iterations`
/// and `--every` decide only how many there are and which are kept, `--kernel` only how fast they are computed: they
/// are not part of it.
Id128 problem_id(const Id128& content_id, const Solver& solver) {
  const std::string text = fmt::format("{} {} {} additions={}", to_string(content_id), solver.name(),
                                       solver.parameters(), kOrderOfAdditions);
  return hash128(text.data(), text.size());
}

/// b from an n-by-1 matrix file; all ones if no file is given.
RightSide load_right_side(const std::string& file) {
  if (file.empty()) return {};
  const CsrMatrix matrix = load_matrix({.matrix = file, .cache = false, .cache_dir = {}}, Orientation::kRows);
  if (matrix.columns != 1) throw usage_error("--rhs: {} has {} columns, expected 1", file, matrix.columns);
  RightSide b{Array<double>(matrix.rows), to_string(matrix.content_id)};
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) {
      b.value[row] = matrix.value.empty() ? 1.0 : matrix.value[e];
    }
  }
  return b;
}

std::unique_ptr<Solver> make_solver(CsrMatrix matrix, const SolveOptions& options, Kernel kernel) {
  if (options.solver != "jacobi") return make_pagerank(std::move(matrix), options.damping, selected_isa(), kernel);
  RightSide right_side = load_right_side(options.rhs);
  try {
    return make_jacobi(std::move(matrix), std::move(right_side), selected_isa(), kernel);
  } catch (const RefusedEntry&) {
    throw;
  } catch (const Error& error) {
    const std::string files = options.matrix + (options.rhs.empty() ? "" : " with --rhs " + options.rhs);
    throw Error(error.code(), files + ": " + error.what());
  }
}

}  // namespace

Problem load_problem(const SolveOptions& options) {
  const bool jacobi = options.solver == "jacobi";
  if (!jacobi && !options.rhs.empty()) {
    throw usage_error("--rhs: found {} with --solver {}, expected it with --solver jacobi only", options.rhs,
                      options.solver);
  }
  if (jacobi && options.damping_given) {
    throw usage_error("--damping: found with --solver jacobi, which has none; expected it with --solver pagerank only");
  }
  const Kernel kernel = kernel_named(options.kernel);
  if (jacobi) refuse_kernel_for_jacobi(kernel);
  CsrMatrix matrix = load_matrix({.matrix = options.matrix, .cache = options.cache, .cache_dir = options.cache_dir},
                                 jacobi ? Orientation::kRows : Orientation::kInLinks);
  check_square(matrix, options.matrix);
  const Id128 content_id = matrix.content_id;

  Problem problem;
  try {
    problem.solver = make_solver(std::move(matrix), options, kernel);
  } catch (const RefusedEntry& refused) {  // the solver names rows, not files
    throw refused.in(options.matrix, find_in_text(options.matrix, refused));
  }

  RunDescription& run = problem.description;
  run.run_id = random_id();
  run.problem_id = problem_id(content_id, *problem.solver);
  run.rows = problem.solver->rows();
  run.nonzeros = problem.solver->nonzeros();
  run.started_realtime_ns = realtime_ns();
  assign(run.solver, problem.solver->name());
  assign(run.matrix, options.matrix);
  assign(run.parameters, problem.solver->parameters());
  return problem;
}

}  // namespace ringside
