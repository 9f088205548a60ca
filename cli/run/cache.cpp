// SPDX-License-Identifier: BSD-3-Clause
// `ringside cache MATRIX`: writes a matrix's binary cache ahead of time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/subcommands.hpp"
#include "cli/terminal/format.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/options/options.hpp"
#include "common/text/printable.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/solver/solver_table.hpp"

namespace ringside {
namespace {

/// For each solver, what it sums over: "pagerank sums over in-links, jacobi sums over rows".
std::string orientations() {
  std::vector<std::string> texts;
  for (const SolverEntry* solver : solvers()) {
    const char* over = solver->orientation == Orientation::kRows ? "rows" : "in-links";
    texts.push_back(fmt::format("{} sums over {}", solver->choice.name, over));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

int cache_command(int argc, const char* const* argv) {
  MatrixOptions matrix;
  std::string solver = SolveOptions().solver;
  const std::vector<std::string> names = names_of(solver_choices());
  CommandLine line("Writes a matrix's binary cache; `ringside run --cache` maps it instead of reading the text again.",
                   "ringside cache");
  line.option("MATRIX", matrix.matrix, "FILE, grid:SIDE or rmat:SCALE[:EDGEFACTOR[:SEED]]")
      .required()
      .value_name("FILE|grid:SIDE|rmat:SCALE");
  line.option("--columns", matrix.columns,
              "what each column of an edge list is: from, to, weight or skip (default: as its header says, or "
              "from,to[,weight])")
      .value_name("from,to,...");
  line.option("--solver", solver,
              "make the cache for this solver, which determines the matrix's orientation: " + orientations())
      .check(one_of(names))
      .value_name(fmt::format("{}", fmt::join(names, "|")))
      .show_default();
  line.option("--cache-dir", matrix.cache_dir, "folder to write to (default: beside the file)").value_name("DIR");
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  const std::string path = write_cache(matrix, solver_named(solver).orientation);
  fmt::print("{} ({})\n", printable(path), megabytes(std::filesystem::file_size(path)));
  return 0;
}

}  // namespace ringside
