// How long does one PageRank iterate take, and how near is that to what memory allows?
//
//   bench_kernels [--side 2000] [--threads 1,2] [--repeats 21] > kernels.json
//
// Workload: the 8-neighbour grid graph of side x side nodes. Three things are timed in turn, A B C A B C ...: the
// solver's iterate; the same iterate as a plain loop over the matrix; a copy of one vector with non-temporal stores by
// the same pinned threads. A mesh's iterate moves 32 B per row (read: x_{k-1} and its contributions; written past the
// cache: x_k and its contributions), the copy 16 B: `fraction_of_copy_bandwidth` compares the two rates pair by pair.
#include <emmintrin.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/machine_header.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"
#include "producer/csr_matrix.hpp"
#include "producer/pagerank.hpp"

namespace ringside::bench {
namespace {

using nlohmann::ordered_json;

constexpr double kDamping = 0.85;
constexpr double kIterateBytesPerRow = 32;
constexpr double kCopyBytesPerRow = 16;

CsrMatrix grid_matrix(std::uint64_t side) {
  const auto n = static_cast<std::int64_t>(side);
  const std::uint64_t links = 4 * side * (side - 1) + 4 * (side - 1) * (side - 1);
  CsrMatrix matrix;
  matrix.rows = matrix.columns = side * side;
  matrix.orientation = Orientation::kInLinks;
  matrix.row_begin = Array<std::uint64_t>(matrix.rows + 1);
  matrix.column = Array<std::uint32_t>(links);
  std::uint64_t e = 0;
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t column = 0; column < n; ++column) {
      for (std::int64_t r = std::max<std::int64_t>(row - 1, 0); r <= std::min(row + 1, n - 1); ++r) {
        for (std::int64_t c = std::max<std::int64_t>(column - 1, 0); c <= std::min(column + 1, n - 1); ++c) {
          if (r != row || c != column) matrix.column[e++] = static_cast<std::uint32_t>(r * n + c);
        }
      }
      matrix.row_begin[static_cast<std::uint64_t>(row * n + column) + 1] = e;
    }
  }
  return matrix;
}

/// `rows` doubles (even), past the cache; both 16-byte aligned.
void copy_nontemporal(double* to, const double* from, std::uint64_t rows) {
#pragma omp parallel
  {
    const auto threads = static_cast<std::uint64_t>(omp_get_num_threads());
    const auto thread = static_cast<std::uint64_t>(omp_get_thread_num());
    const std::uint64_t first = rows * thread / threads / 8 * 8;
    const std::uint64_t last = thread + 1 == threads ? rows / 2 * 2 : rows * (thread + 1) / threads / 8 * 8;
    for (std::uint64_t i = first; i < last; i += 2) _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
    _mm_sfence();
  }
}

/// The same iterate, plainly. contribution: d * x / out-degree; scale: d / out-degree. No node of a grid is dangling.
double plain_iterate(const CsrMatrix& links, const double* scale, const double* contribution, const double* previous,
                     double* next, double* next_contribution) {
  const double base = (1.0 - kDamping) / static_cast<double>(links.rows);
  double change = 0;
#pragma omp parallel for schedule(static) reduction(+ : change)
  for (std::uint64_t j = 0; j < links.rows; ++j) {
    double sum = 0;
    for (std::uint64_t e = links.row_begin[j]; e < links.row_begin[j + 1]; ++e) sum += contribution[links.column[e]];
    const double x = base + sum;
    change += std::fabs(x - previous[j]);
    next[j] = x;
    next_contribution[j] = x * scale[j];
  }
  return change;
}

double milliseconds_since(std::int64_t start_ns) {
  return static_cast<double>(now_ns() - start_ns) * 1e-6;
}

ordered_json spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {{"median", values[values.size() / 2]}, {"min", values.front()}, {"max", values.back()}};
}

ordered_json measure(const CsrMatrix& matrix, int threads, int repeats) {
  pin_threads(threads);
  const std::uint64_t n = matrix.rows;
  const auto solver = make_pagerank(matrix, kDamping);
  Array<double> x[2] = {Array<double>(n), Array<double>(n)};
  solver->start(x[0].data());
  solver->start(x[1].data());
  solver->prepare(x[0].data());

  Array<double> scale(n);
  Array<double> contribution[2] = {Array<double>(n), Array<double>(n)};
#pragma omp parallel for schedule(static)
  for (std::uint64_t i = 0; i < n; ++i) {
    scale[i] = kDamping / static_cast<double>(matrix.row_begin[i + 1] - matrix.row_begin[i]);  // as many in as out
    contribution[0][i] = scale[i] * x[0][i];
    contribution[1][i] = 0;
  }

  std::vector<double> iterate_ms, plain_ms, copy_ms, fraction, speedup;
  constexpr int kWarmUps = 3;
  for (int k = -kWarmUps; k < repeats; ++k) {
    const int old = (k + kWarmUps) % 2;
    std::int64_t start = now_ns();
    const Residual residual = solver->iterate(x[old].data(), x[1 - old].data());
    const double iterate = milliseconds_since(start);

    // x[old] is x_{k-1} until the copy below overwrites it; contribution[old] belongs to it.
    start = now_ns();
    const double change = plain_iterate(matrix, scale.data(), contribution[old].data(), x[old].data(),
                                        x[1 - old].data(), contribution[1 - old].data());
    const double plain = milliseconds_since(start);
    if (std::fabs(change - residual.l1) > 1e-9 * residual.l1) throw damage_error("the plain loop disagrees");

    start = now_ns();
    copy_nontemporal(x[old].data(), x[1 - old].data(), n);
    const double copy = milliseconds_since(start);
    if (k < 0) continue;
    iterate_ms.push_back(iterate);
    plain_ms.push_back(plain);
    copy_ms.push_back(copy);
    fraction.push_back((kIterateBytesPerRow / iterate) / (kCopyBytesPerRow / copy));
    speedup.push_back(plain / iterate);
  }
  const double copied_gb = kCopyBytesPerRow * static_cast<double>(n) * 1e-9;
  ordered_json result;
  result["threads"] = threads;
  result["iterate_ms"] = spread_of(iterate_ms);
  result["plain_loop_ms"] = spread_of(plain_ms);
  result["copy_nontemporal_ms"] = spread_of(copy_ms);
  result["copy_nontemporal_gb_per_s"] = copied_gb / (spread_of(copy_ms)["median"].get<double>() * 1e-3);
  result["fraction_of_copy_bandwidth"] = spread_of(fraction);
  result["plain_loop_over_iterate"] = spread_of(speedup);
  return result;
}

int run(int argc, char** argv) {
  std::uint64_t side = 2000;
  std::vector<int> threads = {1, 2};
  int repeats = 21;
  CLI::App app("Time of one PageRank iterate on a grid graph, against memory bandwidth; as JSON");
  app.add_option("--side", side, "nodes along each side of the grid")->check(CLI::Range(2, 60000));
  app.add_option("--threads", threads, "numbers of threads to measure with")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--repeats", repeats, "measurements of each kind")->check(CLI::Range(5, 100000));
  std::string output;
  app.add_option("--output", output, "File for the JSON (default: standard output)");
  CLI11_PARSE(app, argc, argv);

  ordered_json report;
  report["machine"] = machine_header();
  const CsrMatrix matrix = grid_matrix(side);
  report["workload"] = {{"matrix", fmt::format("grid:{}", side)},
                        {"rows", matrix.rows},
                        {"nonzeros", matrix.nonzeros()},
                        {"repeats", repeats}};
  report["model"] = {{"iterate_bytes_per_row", kIterateBytesPerRow}, {"copy_bytes_per_row", kCopyBytesPerRow}};
  report["results"] = ordered_json::array();
  for (const int count : threads) report["results"].push_back(measure(matrix, count, repeats));
  write_json(report, output);
  return 0;
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  try {
    return ringside::bench::run(argc, argv);
  } catch (const ringside::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
