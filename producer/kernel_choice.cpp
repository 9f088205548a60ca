#include "producer/kernel_choice.hpp"

#include <omp.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include "producer/block_rows.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kLineElements = 8;

// What a core keeps near: 2 MiB of the vector's lines, by how often they are read or how near the diagonal (as many
// rows on either side). A vector of up to 8 MiB is never far: a third-level cache has it.
constexpr std::uint64_t kNearLines = std::uint64_t{1} << 15;
constexpr std::uint64_t kNearRows = std::uint64_t{1} << 17;
constexpr std::uint64_t kNearVector = std::uint64_t{1} << 20;

// Nanoseconds (docs/kernels.md).
constexpr double kCsrRowNs = 7;
constexpr double kCsrEntryNs = 0.6;
constexpr double kPackedRowNs = 3;
constexpr double kPackedEntryNs = 0.4;
constexpr double kRunEntryNs = 0.1;
constexpr double kFarReadNs = 4;
constexpr double kPlaceNs = 1.5;
constexpr double kPackRowNs = 20;
constexpr double kPackEntryNs = 1.5;
constexpr double kRankRowNs = 5;
constexpr double kRankEntryNs = 2;

/// How many entries each column has. Every thread counts its own columns over the whole matrix, so that no two write
/// the same count.
Array<std::uint32_t> entries_of_columns(const CsrMatrix& matrix) {
  Array<std::uint32_t> count(matrix.columns);
#pragma omp parallel
  {
    const auto threads = static_cast<std::uint64_t>(omp_get_num_threads());
    const auto thread = static_cast<std::uint64_t>(omp_get_thread_num());
    const std::uint64_t begin = matrix.columns * thread / threads;
    const std::uint64_t end = matrix.columns * (thread + 1) / threads;
    for (const std::uint32_t column : matrix.column.span()) {
      if (column - begin < end - begin) ++count[column];
    }
  }
  return count;
}

/// The entries of the busiest `most` of what is counted, and how many the least busy of these has.
struct Busiest {
  std::uint64_t entries = 0;
  std::uint64_t least = 0;
};
Busiest busiest(std::vector<std::uint64_t> count, std::uint64_t most) {
  if (most < count.size()) {
    std::nth_element(count.begin(), count.begin() + static_cast<std::ptrdiff_t>(most), count.end(), std::greater<>());
    count.resize(most);
  }
  Busiest out{0, ~std::uint64_t{0}};
  for (const std::uint64_t entries : count) {
    out.entries += entries;
    out.least = std::min(out.least, entries);
  }
  return out;
}

/// Reads far from what was read lately: of columns neither near the diagonal nor on a line so busy that it stays.
void count_far_reads(const CsrMatrix& matrix, KernelCounts& counts) {
  const Array<std::uint32_t> entries = entries_of_columns(matrix);
  std::vector<std::uint64_t> of_line((matrix.columns + kLineElements - 1) / kLineElements);
  for (std::uint64_t column = 0; column < matrix.columns; ++column) {
    of_line[column / kLineElements] += entries[column];
  }
  const std::uint64_t least = std::max<std::uint64_t>(busiest(of_line, kNearLines).least, 1);
  std::uint64_t far = 0;
#pragma omp parallel for schedule(static) reduction(+ : far)
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) {
      const std::uint64_t column = matrix.column[e];
      const std::uint64_t distance = column > row ? column - row : row - column;
      far += distance > kNearRows && of_line[column / kLineElements] < least ? 1u : 0u;
    }
  }
  counts.far_reads = far;
  const std::vector<std::uint64_t> of_column(entries.begin(), entries.end());
  counts.far_reads_ranked = matrix.nonzeros() - busiest(of_column, kNearLines * kLineElements).entries;
}

}  // namespace

double iteration_ns(const KernelCounts& counts, Kernel kernel) noexcept {
  const bool packed = kernel == Kernel::kPacked || kernel == Kernel::kRanked;
  const auto in_runs = static_cast<double>(counts.entries - counts.single_entries);
  const double row_ns = packed ? kPackedRowNs : kCsrRowNs;
  const double entry_ns = packed ? kPackedEntryNs : kCsrEntryNs;
  if (kernel == Kernel::kRanked) {
    return row_ns * static_cast<double>(counts.rows) + entry_ns * static_cast<double>(counts.entries) +
           kPlaceNs * static_cast<double>(counts.rows) + kFarReadNs * static_cast<double>(counts.far_reads_ranked);
  }
  return row_ns * static_cast<double>(counts.single_rows) + entry_ns * static_cast<double>(counts.single_entries) +
         kRunEntryNs * in_runs + kFarReadNs * static_cast<double>(counts.far_reads);
}

double conversion_ns(const KernelCounts& counts, Kernel kernel) noexcept {
  switch (kernel) {
    case Kernel::kPacked:
      return kPackRowNs * static_cast<double>(counts.single_rows) +
             kPackEntryNs * static_cast<double>(counts.single_entries);
    case Kernel::kRanked:
      return (kPackRowNs + kRankRowNs) * static_cast<double>(counts.rows) +
             (kPackEntryNs + kRankEntryNs) * static_cast<double>(counts.entries);
    default: return 0;
  }
}

Kernel fastest_that_pays(const KernelCounts& counts, bool may_rank) noexcept {
  Kernel best = Kernel::kRuns;
  for (const Kernel kernel : {Kernel::kPacked, Kernel::kRanked}) {
    if (kernel == Kernel::kRanked && !may_rank) continue;
    const double saved = iteration_ns(counts, Kernel::kRuns) - iteration_ns(counts, kernel);
    if (saved * kPaysWithin < conversion_ns(counts, kernel)) continue;
    if (iteration_ns(counts, kernel) < iteration_ns(counts, best)) best = kernel;
  }
  return best;
}

Kernel choose_kernel(const CsrMatrix& matrix, const RowRuns& rows, bool may_rank) {
  KernelCounts counts;
  counts.rows = matrix.rows;
  counts.entries = matrix.nonzeros();
  counts.single_rows = rows.single.size();
  for (std::uint64_t block = 0; block + 1 < rows.block.size(); ++block) {
    for (std::uint64_t s = rows.block[block].single; s < rows.block[block + 1].single; ++s) {
      const std::uint64_t* begin = matrix.row_begin.data() + block * kBlockRows + rows.single[s];
      counts.single_entries += begin[1] - begin[0];
    }
  }
  // Where the vector fits the cache, or most entries lie in runs, there is nothing to gain by another order.
  const bool far = matrix.columns > kNearVector && 2 * counts.single_entries > counts.entries;
  if (may_rank && far) count_far_reads(matrix, counts);
  return fastest_that_pays(counts, may_rank && far);
}

Array<std::uint32_t> places_by_degree(const CsrMatrix& matrix) {
  constexpr std::size_t kClasses = 33;  // widths of a 32-bit number
  Array<std::uint32_t> place = entries_of_columns(matrix);
  std::uint64_t next[kClasses] = {};
  for (const std::uint32_t entries : place) ++next[std::bit_width(entries)];
  std::uint64_t before = 0;
  for (std::size_t c = kClasses; c-- > 0;) before += std::exchange(next[c], before);
  for (std::uint32_t& entries : place) entries = static_cast<std::uint32_t>(next[std::bit_width(entries)]++);
  return place;
}

}  // namespace ringside
