// SPDX-License-Identifier: BSD-3-Clause
// The main function of every adapter. The program loads the matrix, computes and checks one product, and prints the
// result as a line of JSON. After this, the program executes the lines of its input: "burst U T" means U products
// without timing, followed by T products that are timed one by one. Between bursts, the program sleeps, so that other
// programs can be measured in turn.
//
//   bench_product_NAME --matrix grid:2000 --threads 2
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "bench/products/product.hpp"
#include "common/json/json.hpp"
#include "common/options/command_line.hpp"
#include "common/options/option_checks.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/program/program.hpp"
#include "producer/matrix/matrix_source.hpp"

namespace ringside::bench {

double row_error(const CsrMatrix& matrix, std::uint64_t row, double y) {
  double sum = 0;
  for (std::uint64_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) sum += operand(matrix.column[e]);
  const double entries = static_cast<double>(matrix.row_begin[row + 1] - matrix.row_begin[row]) + 1;
  const double difference = y > sum ? y - sum : sum - y;
  if (!(difference >= 0)) return HUGE_VAL;  // not a number
  return difference == 0 ? 0 : difference / (entries * 0x1p-53 * sum);
}

namespace {

constexpr double kErrorAccepted = 2;

void answer(const Json& line) {
  std::cout << line.dump() << std::endl;
}

void run_commands(Product& product) {
  std::string line;
  while (product.next_command(line)) {
    std::istringstream words(line);
    std::string command;
    int untimed = 0;
    int timed = 0;
    if (!(words >> command >> untimed >> timed) || command != "burst" || untimed < 0 || timed < 1) {
      throw usage_error("found the line '{}', expected 'burst UNTIMED TIMED'", line);
    }
    for (int i = 0; i < untimed; ++i) product.run();
    std::vector<std::int64_t> ns;
    for (int i = 0; i < timed; ++i) {
      product.line_up();
      const std::int64_t begin = now_ns();
      product.run();
      product.line_up();
      ns.push_back(now_ns() - begin);
    }
    if (product.leads()) answer({{"ns", ns}});
  }
}

int run(int argc, char** argv) {
  std::string matrix_name;
  int threads = 1;
  CommandLine line("Times one library's product of a sparse matrix and a vector, for bench/products.py",
                   "bench_product");
  line.option("--matrix", matrix_name, "a graph: FILE, grid:SIDE or rmat:SCALE; each link has the value 1").required();
  line.option("--threads", threads, "threads (PETSc: processes)").check(whole_number_within(1, 1024));
  if (const auto code = parse_or_exit_code(line, argc, argv)) return *code;

  const std::unique_ptr<Product> product = make_product(threads);
  Json ready;
  {
    const std::int64_t begin = now_ns();
    const CsrMatrix matrix =
        load_matrix({.matrix = matrix_name, .cache = false, .cache_dir = {}}, Orientation::kInLinks);
    if (!matrix.value.empty()) throw usage_error("{}: found weights, expected a graph without weights", matrix_name);
    const std::int64_t loaded = now_ns();
    product->load(matrix);
    const std::int64_t converted = now_ns();
    product->run();
    const double error = product->error(matrix);
    if (!(error <= kErrorAccepted)) {
      throw damage_error("{}: the product is wrong: a row's error is {} times what rounding allows", matrix_name,
                         error);
    }
    ready = {{"version", product->version()},
             {"what", product->what()},
             {"rows", matrix.rows},
             {"nonzeros", matrix.nonzeros()},
             {"load_s", static_cast<double>(loaded - begin) * 1e-9},
             {"convert_s", static_cast<double>(converted - loaded) * 1e-9},
             {"error_over_rounding", error}};
  }
  if (product->leads()) answer(ready);
  run_commands(*product);
  return 0;
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  return ringside::run_program([&] { return ringside::bench::run(argc, argv); });
}
