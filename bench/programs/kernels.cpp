// SPDX-License-Identifier: BSD-3-Clause
// How long does one PageRank iterate take with each format of a matrix (docs/inside/kernels.md), and how close is this
// to the limit that memory sets?
//
//   bench_kernels [--matrix grid:2000,rmat:22,...] [--formats csr,bands,packed,ranked] [--threads 1,2] [--repeats 21]
//
// Timed in turn, A B C A B C ...: the solver's iterate with each format; the same iterate as a plain loop over the
// matrix; a copy of 128 MiB with non-temporal stores, and a read of 128 MiB, by the same pinned threads.
// `mb_moved_at_least`: the MB that an iterate moves if every array is moved once and no data are in a cache.
// `share_of_copy_bandwidth` compares the iterate's rate with the copy's rate, pair by pair. If everything fits into the
// last-level cache, the share may exceed 1.
#include <emmintrin.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/programs/bench_program.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "producer/kernels/row_layout.hpp"
#include "producer/kernels/streaming.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/solver/pagerank.hpp"

namespace ringside::bench {
namespace {

constexpr double kDamping = 0.85;
constexpr std::uint64_t kCopiedRows = std::uint64_t{1} << 24;  // 128 MiB, four times a usual last-level cache
constexpr double kCopyBytesPerRow = 16;
constexpr double kReadBytesPerRow = 8;

/// Calls work(first, last) on every thread with the thread's share of `rows`, in whole cache lines of doubles.
template <class Work>
void share_rows(std::uint64_t rows, const Work& work) {
#pragma omp parallel
  {
    const auto threads = static_cast<std::uint64_t>(omp_get_num_threads());
    const auto thread = static_cast<std::uint64_t>(omp_get_thread_num());
    work(rows * thread / threads / 8 * 8, thread + 1 == threads ? rows : rows * (thread + 1) / threads / 8 * 8);
  }
}

/// Copies `rows` doubles (an even number) with non-temporal stores. Both pointers are 16-byte aligned.
void copy_nontemporal(double* to, const double* from, std::uint64_t rows) {
  share_rows(rows, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; i += 2) _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
    _mm_sfence();
  });
}

/// Reads into eight sums of two doubles, so that as many loads as possible are in flight.
double read(const double* from, std::uint64_t rows) {
  double total = 0;
  share_rows(rows, [&](std::uint64_t first, std::uint64_t last) {
    __m128d sum[8] = {};
    for (std::uint64_t i = first; i + 16 <= last; i += 16) {
      for (std::uint64_t j = 0; j < 8; ++j) sum[j] = _mm_add_pd(sum[j], _mm_loadu_pd(from + i + 2 * j));
    }
    double own = 0;
    for (const __m128d& pair : sum) own += pair[0] + pair[1];
#pragma omp atomic
    total += own;
  });
  return total;
}

/// The iterate as a plain loop over rows and links in their order.
class PlainLoop {
 public:
  explicit PlainLoop(const CsrMatrix& links) : links_(links), scale(links.rows) {
    for (const std::uint32_t source : links.column.span()) scale[source] += 1;
    for (double& s : scale) s = s > 0 ? kDamping / s : 0.0;
    for (Array<double>& vector : contribution_) vector = Array<double>(links.rows);
  }

  void prepare(const double* x) {
    dangling_ = 0;
    for (std::uint64_t i = 0; i < links_.rows; ++i) {
      contribution_[current_][i] = x[i] * scale[i];
      if (scale[i] == 0) dangling_ += x[i];
    }
  }

  /// Returns the L1 change.
  double iterate(const double* previous, double* next) {
    const double base = ((1.0 - kDamping) + kDamping * dangling_) / static_cast<double>(links_.rows);
    const double* contribution = contribution_[current_].data();
    double* made = contribution_[1 - current_].data();
    double change = 0;
    double dangling = 0;
#pragma omp parallel for schedule(static) reduction(+ : change, dangling)
    for (std::uint64_t j = 0; j < links_.rows; ++j) {
      double sum = 0;
      for (std::uint64_t e = links_.row_begin[j]; e < links_.row_begin[j + 1]; ++e) {
        sum += contribution[links_.column[e]];
      }
      const double x = base + sum;
      change += std::fabs(x - previous[j]);
      if (scale[j] == 0) dangling += x;
      next[j] = x;
      made[j] = x * scale[j];
    }
    dangling_ = dangling;
    current_ = 1 - current_;
    return change;
  }

 private:
  const CsrMatrix& links_;
  Array<double> contribution_[2];
  int current_ = 0;
  double dangling_ = 0;

 public:
  Array<double> scale;  // d / out-degree
};

/// The bytes that an iterate moves: x_{k-1} and x_k; their contributions, unless the product has the scales (ordinary
/// stores also read the lines that they write); the scales of each group of 64 rows with different scales; and the
/// matrix in its format.
double bytes_of_iterate(const CsrMatrix& matrix, const Array<double>& scale, MatrixFormat format) {
  std::vector<double> reads(matrix.rows);
  for (const std::uint32_t source : matrix.column.span()) reads[source] += 1;
  const RowLayout layout = make_row_layout(matrix, format, reads, scale.span());
  const auto rows = static_cast<double>(matrix.rows);
  const bool past_the_cache = exceed_cache(matrix.rows, layout.scales ? 2 : 4);
  double bytes = rows * 8 + rows * (past_the_cache ? 8 : 16);
  if (!layout.scales) {
    bytes += rows * 8 + rows * (past_the_cache && layout.place.empty() ? 8 : 16);
    bytes += static_cast<double>(layout.place.bytes());
  }
  constexpr std::uint64_t kGroup = 64;
  for (std::uint64_t i = 0; i < matrix.rows; i += kGroup) {
    const double* end = scale.data() + std::min(i + kGroup, matrix.rows);
    if (!std::all_of(scale.data() + i, end, [&](double s) { return s == scale[i] && s > 0; })) bytes += kGroup * 8;
  }
  bytes += static_cast<double>(layout.rows.band.size() * sizeof(RowBand) + layout.rows.band_column.size() * 4 +
                               layout.rows.band_weight.size() * 8);
  for (const PackedBlock& block : layout.packed.block) bytes += static_cast<double>(block.words * 4);
  if (layout.scales && !layout.packed.block.empty()) {
    // At most: a row that equals an earlier row of its block has no values of its own.
    std::uint64_t in_bands = 0;
    for (const RowBand& band : layout.rows.band) in_bands += std::uint64_t{band.rows} * band.entries;
    bytes += static_cast<double>(matrix.nonzeros() - in_bands) * 8;
  }
  if (!layout.reads_matrix()) return bytes;
  for (std::uint64_t block = 0; block + 1 < layout.rows.block.size(); ++block) {
    for (std::uint64_t s = layout.rows.block[block].single; s < layout.rows.block[block + 1].single; ++s) {
      const std::uint64_t row = block * 1024 + layout.rows.single[s];
      bytes += 10 + 4 * static_cast<double>(matrix.row_begin[row + 1] - matrix.row_begin[row]);
    }
  }
  return bytes;
}

struct Timed {
  MatrixFormat format;
  std::unique_ptr<Solver> solver;
  Array<double> x[2];
  double prepare_ms;  // from the matrix to the first iterate
  std::vector<double> ms, share, over_plain;
};

Json measure(const CsrMatrix& matrix, const std::vector<MatrixFormat>& formats, int threads, int repeats) {
  pin_threads(threads);
  const std::uint64_t n = matrix.rows;
  std::vector<Timed> timed;
  for (const MatrixFormat format : formats) {
    const std::int64_t start = now_ns();
    Timed t{format, make_pagerank(matrix, kDamping, selected_isa(), format), {}, 0, {}, {}, {}};
    t.prepare_ms = milliseconds_since(start);
    for (Array<double>& x : t.x) x = Array<double>(n);
    t.solver->start(t.x[0].data());
    t.solver->start(t.x[1].data());
    t.solver->prepare(t.x[0].data(), {});
    timed.push_back(std::move(t));
  }
  PlainLoop plain(matrix);
  Array<double> plain_x[2] = {Array<double>(n), Array<double>(n)};
  timed[0].solver->start(plain_x[0].data());
  plain.prepare(plain_x[0].data());
  Array<double> from(kCopiedRows);
  Array<double> to(kCopiedRows);
  share_rows(kCopiedRows, [&](std::uint64_t first, std::uint64_t last) {
    std::fill(from.data() + first, from.data() + last, 1.0);
    std::fill(to.data() + first, to.data() + last, 0.0);
  });

  std::vector<double> plain_ms, copy_ms, read_ms;
  constexpr int kWarmUps = 3;
  for (int k = -kWarmUps; k < repeats; ++k) {
    const auto old = static_cast<std::size_t>(k + kWarmUps) % 2;
    std::int64_t start = now_ns();
    copy_nontemporal(to.data(), from.data(), kCopiedRows);
    const double copy = milliseconds_since(start);
    start = now_ns();
    if (read(from.data(), kCopiedRows) != static_cast<double>(kCopiedRows))
      throw damage_error("the copy's source changed");
    const double reading = milliseconds_since(start);
    start = now_ns();
    const double change = plain.iterate(plain_x[old].data(), plain_x[1 - old].data());
    const double loop = milliseconds_since(start);
    for (Timed& t : timed) {
      start = now_ns();
      const Change solved = t.solver->iterate(t.x[old].data(), t.x[1 - old].data());
      const double ms = milliseconds_since(start);
      // About the tolerance: ranks add up to 1, and the plain loop adds millions of them without compensation.
      if (std::fabs(change - solved.l1) > 1e-9 * solved.l1 + 1e-11)
        throw damage_error("the plain loop and the solver computed different changes");
      if (k < 0) continue;
      t.ms.push_back(ms);
      t.over_plain.push_back(loop / ms);
      t.share.push_back((1 / ms) / (kCopyBytesPerRow * static_cast<double>(kCopiedRows) / copy));  // times its bytes
    }
    if (k < 0) continue;
    plain_ms.push_back(loop);
    copy_ms.push_back(copy);
    read_ms.push_back(reading);
  }

  Json result;
  result["threads"] = threads;
  result["chosen"] = make_pagerank(matrix, kDamping)->format();
  result["plain_loop_ms"] = spread(plain_ms, "ms");
  const double copied_gb = kCopyBytesPerRow * static_cast<double>(kCopiedRows) * 1e-9;
  const double read_gb = kReadBytesPerRow * static_cast<double>(kCopiedRows) * 1e-9;
  result["copy_nontemporal_gb_per_s"] = copied_gb / (median(copy_ms) * 1e-3);
  result["read_gb_per_s"] = read_gb / (median(read_ms) * 1e-3);
  for (Timed& t : timed) {
    const double bytes = bytes_of_iterate(matrix, plain.scale, t.format);
    for (double& share : t.share) share *= bytes;
    result["kernels"][std::string(to_string(t.format))] = {{"iterate_ms", spread(t.ms, "ms")},
                                                           {"mb_moved_at_least", bytes * 1e-6},
                                                           {"share_of_copy_bandwidth", spread(t.share, "ratio")},
                                                           {"plain_loop_over_iterate", spread(t.over_plain, "ratio")},
                                                           {"preparation_ms", t.prepare_ms}};
  }
  return result;
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program(
      "kernels",
      "Measures the time of one PageRank iterate in each matrix format, compared with a copy in memory. Prints JSON.");
  std::vector<std::string> matrices = {"grid:2000"};
  std::vector<std::string> names = {"csr", "bands", "packed", "ranked"};
  std::vector<int> threads = {1, 2};
  int repeats = 21;
  std::string cache_dir;
  program.line.option("--matrix", matrices, "matrices, as for ringside run --matrix; without values").comma_separated();
  program.line.option("--formats", names, "formats to time").comma_separated();
  program.line.option("--threads", threads, "measure with these numbers of threads")
      .comma_separated()
      .check(whole_number_within(1, 1024));
  program.line.option("--repeats", repeats, "measurements of each kind").check(whole_number_within(5, 100000));
  program.line.option("--cache-dir", cache_dir, "folder for binary caches of the matrices (default: no cache is kept)");
  return program.run(argc, argv, [&](Json& report) {
    std::vector<MatrixFormat> formats;
    for (const std::string& name : names) formats.push_back(format_named(name));
    report["repeats"] = repeats;
    for (const std::string& name : matrices) {
      const CsrMatrix matrix =
          load_matrix({.matrix = name, .cache = !cache_dir.empty(), .cache_dir = cache_dir}, Orientation::kInLinks);
      if (!matrix.value.empty()) throw usage_error("{}: found a matrix with values, expected one without values", name);
      Json entry = {
          {"matrix", name.substr(name.rfind('/') + 1)}, {"rows", matrix.rows}, {"nonzeros", matrix.nonzeros()}};
      for (const int count : threads) entry["results"].push_back(measure(matrix, formats, count, repeats));
      report["matrices"].push_back(entry);
    }
  });
}
