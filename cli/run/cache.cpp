#include "cli/run/cache.hpp"

#include <fmt/format.h>

#include <filesystem>

#include <CLI/CLI.hpp>

#include "cli/terminal/format.hpp"
#include "common/options/option_checks.hpp"
#include "common/options/options.hpp"
#include "common/platform/printable.hpp"
#include "producer/matrix/matrix_source.hpp"

namespace ringside {

int cache_command(int argc, const char* const* argv) {
  MatrixOptions matrix;
  std::string solver = "pagerank";
  CLI::App app("Writes a matrix's binary cache; `ringside run --cache` maps it instead of reading the text again.",
               "ringside cache");
  app.add_option("MATRIX", matrix.matrix, "FILE, grid:SIDE or rmat:SCALE[:EDGEFACTOR[:SEED]]")
      ->required()
      ->type_name("FILE|grid:SIDE|rmat:SCALE");
  app.add_option("--solver", solver, "whose orientation: PageRank sums over in-links, Jacobi over rows")
      ->check(one_of({"pagerank", "jacobi"}))
      ->type_name("pagerank|jacobi")
      ->capture_default_str();
  app.add_option("--cache-dir", matrix.cache_dir, "folder to write to (default: beside the file)")->type_name("DIR");
  if (const auto code = parse_or_exit_code(app, argc, argv)) return *code;

  const std::string path = write_cache(matrix, solver == "jacobi" ? Orientation::kRows : Orientation::kInLinks);
  fmt::print("{} ({})\n", printable(path), megabytes(std::filesystem::file_size(path)));
  return 0;
}

}  // namespace ringside
