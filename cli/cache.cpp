#include "cli/cache.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "common/options.hpp"
#include "producer/matrix_source.hpp"

namespace ringside {

int cache_command(int argc, const char* const* argv) {
  MatrixOptions matrix;
  std::string solver = "pagerank";
  CLI::App app("Writes a matrix's binary cache; `ringside run --cache` maps it instead of reading the text again.",
               "ringside cache");
  app.add_option("MATRIX", matrix.matrix, "FILE, grid:SIDE or rmat:SCALE[:EDGEFACTOR]")->required()->type_name("MATRIX");
  app.add_option("--solver", solver, "whose orientation: PageRank sums over in-links, Jacobi over rows")
      ->check(CLI::IsMember({"pagerank", "jacobi"}).description(""))
      ->type_name("pagerank|jacobi")
      ->capture_default_str();
  app.add_option("--cache-dir", matrix.cache_dir, "folder to write to (default: beside the file)")->type_name("DIR");
  if (const int code = parse_or_exit_code(app, argc, argv); code >= 0) return code;

  const std::string path = write_cache(matrix, solver == "jacobi" ? Orientation::kRows : Orientation::kInLinks);
  fmt::print("{} ({:.1f} MB)\n", path, static_cast<double>(std::filesystem::file_size(path)) * 1e-6);
  return 0;
}

}  // namespace ringside
