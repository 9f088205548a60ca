// SPDX-License-Identifier: BSD-3-Clause
// Is an iterate with more than 2^31 nonzeros right, and how much time does it take per nonzero? The column indices take
// almost no memory: all rows have the same 2048 links, so that one block of 2 MiB is mapped repeatedly. Offsets and
// loops have 2,149,580,800 entries. Every row of x_1 is the same sum, which is known in advance.
//
//   bench_many_nonzeros [--threads 2] [--stride 499] [--output FILE.json]
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>

#include "bench/programs/bench_program.hpp"
#include "common/kernels/isa.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "producer/solver/pagerank.hpp"

namespace ringside::bench {
namespace {

constexpr double kDamping = 0.85;
constexpr std::uint64_t kRowLinks = 2048;
constexpr std::uint64_t kRows = (std::uint64_t{1} << 20) + 1024;
constexpr std::size_t kBlockBytes = std::size_t{2} << 20;  // 256 rows
constexpr std::size_t kColumnBytes = kRows * kRowLinks * sizeof(std::uint32_t);
static_assert(kRows * kRowLinks > std::uint64_t{1} << 31 && kColumnBytes % kBlockBytes == 0);

void* map(void* at, std::size_t bytes, int protection, int flags, int descriptor) {
  void* pages = mmap(at, bytes, protection, flags, descriptor, 0);
  if (pages == MAP_FAILED) throw system_error("cannot map {} bytes: {}", bytes, errno_text(errno));
  return pages;
}

/// Every row links from 0, stride, 2 stride, ...
Array<std::uint32_t> same_columns_in_every_row(std::uint32_t stride) {
  const UniqueFd block(memfd_create("columns", MFD_CLOEXEC));
  if (!block.valid() || ftruncate(block.get(), kBlockBytes) != 0) {
    throw system_error("cannot make a block of {} bytes: {}", kBlockBytes, errno_text(errno));
  }
  auto* const columns =
      static_cast<std::uint32_t*>(map(nullptr, kBlockBytes, PROT_READ | PROT_WRITE, MAP_SHARED, block.get()));
  for (std::size_t i = 0; i < kBlockBytes / sizeof(std::uint32_t); ++i) {
    columns[i] = static_cast<std::uint32_t>(i % kRowLinks) * stride;
  }
  munmap(columns, kBlockBytes);
  auto* const all =
      static_cast<char*>(map(nullptr, kColumnBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1));
  for (std::size_t at = 0; at < kColumnBytes; at += kBlockBytes) {
    map(all + at, kBlockBytes, PROT_READ, MAP_SHARED | MAP_FIXED, block.get());
  }
  const std::shared_ptr<void> owner(all, [](void* pages) { munmap(pages, kColumnBytes); });
  return {owner, static_cast<std::uint32_t*>(owner.get()), kRows * kRowLinks};
}

Json measure(int threads, std::uint32_t stride) {
  pin_threads(threads);
  CsrMatrix matrix;
  matrix.rows = matrix.columns = kRows;
  matrix.orientation = Orientation::kInLinks;
  matrix.row_begin = Array<std::uint64_t>(kRows + 1);
  for (std::uint64_t row = 0; row <= kRows; ++row) matrix.row_begin[row] = row * kRowLinks;
  matrix.column = same_columns_in_every_row(stride);

  std::int64_t begin = now_ns();
  const auto solver = make_pagerank(matrix, kDamping, selected_isa(),
                                    MatrixFormat::kCsr);  // the packed format would copy the equal rows
  const double prepare_s = static_cast<double>(now_ns() - begin) * 1e-9;
  Array<double> x(kRows);
  Array<double> next(kRows);
  double mass = 0;
  double linking = 0;  // mass of the nodes with links; each such node links to all rows
  for (std::uint64_t j = 0; j < kRows; ++j) {
    x[j] = (1 + static_cast<double>(j * 2'654'435'761 % 1000) / 1000) / static_cast<double>(kRows);
    mass += x[j];
    if (j % stride == 0 && j / stride < kRowLinks) linking += x[j];
  }
  solver->prepare(x.data(), {});
  begin = now_ns();
  solver->iterate(x.data(), next.data());
  const double iterate_s = static_cast<double>(now_ns() - begin) * 1e-9;

  constexpr auto kNodes = static_cast<double>(kRows);
  const double expected = ((1 - kDamping) + kDamping * (mass - linking)) / kNodes + kDamping * linking / kNodes;
  double error = 0;
  for (const double value : next) error = std::max(error, std::fabs(value - expected) / expected);
  constexpr double kAccepted = 1e-12;  // plain sums of a million numbers have an error of about 1e-13
  if (!(error <= kAccepted)) throw damage_error("an iterate of {} nonzeros is wrong by {}", matrix.nonzeros(), error);
  return {{"threads", threads},      {"stride", stride},
          {"rows", kRows},           {"nonzeros", matrix.nonzeros()},
          {"relative_error", error}, {"prepare_s", prepare_s},
          {"iterate_s", iterate_s},  {"ns_per_nonzero", iterate_s * 1e9 / static_cast<double>(matrix.nonzeros())}};
}

}  // namespace
}  // namespace ringside::bench

int main(int argc, char** argv) {
  using namespace ringside;
  using namespace ringside::bench;
  BenchProgram program("many_nonzeros", "Times one PageRank iterate of more than 2^31 nonzeros, and checks its values");
  int threads = 2;
  std::uint32_t stride = 499;
  program.line.option("--threads", threads, "threads").check(whole_number_within(1, 1024)).show_default();
  program.line.option("--stride", stride, "distance between the columns of a row's nonzeros")
      .check(whole_number_within(1, 500))
      .show_default();
  return program.run(argc, argv, [&](Json& report) { report.update(measure(threads, stride)); });
}
