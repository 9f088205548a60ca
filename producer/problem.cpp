#include "producer/problem.hpp"

#include "common/clock.hpp"
#include "common/error.hpp"
#include "producer/jacobi.hpp"
#include "producer/matrix_source.hpp"
#include "producer/pagerank.hpp"

namespace ringside {
namespace {

/// Hash of the matrix content, the solver, and every parameter that decides the iterates. `--tolerance`, `--iterations`
/// and `--every` decide only how many of them there are and which are kept, and are not part of it.
Id128 problem_id(const Id128& content_id, const Solver& solver) {
  const std::string text = fmt::format("{} {} {}", to_string(content_id), solver.name(), solver.parameters());
  return hash128(text.data(), text.size());
}

}  // namespace

Problem load_problem(const SolveOptions& options) {
  const bool jacobi = options.solver == "jacobi";
  CsrMatrix matrix = load_matrix({.matrix = options.matrix, .cache = options.cache, .cache_dir = options.cache_dir},
                                 jacobi ? Orientation::kRows : Orientation::kInLinks);
  check_square(matrix, options.matrix);
  const Id128 content_id = matrix.content_id;

  Problem problem;
  if (jacobi) {
    Array<double> rhs = options.rhs.empty() ? Array<double>() : load_vector(options.rhs);
    problem.solver = make_jacobi(std::move(matrix), std::move(rhs));
  } else {
    check_weights_for_pagerank(matrix, options.matrix);
    problem.solver = make_pagerank(std::move(matrix), options.damping);
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
