// SPDX-License-Identifier: BSD-3-Clause
#include "producer/kernels/format_choice.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "producer/kernels/block_rows.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kLineElements = 8;

// The cache lines of the vector that a core keeps near: 2 MiB, either of the lines that are read most often, or of the
// lines nearest to the diagonal (half on either side). A vector of up to 8 MiB is never far: it fits into a third-level
// cache.
constexpr std::uint64_t kNearLines = std::uint64_t{1} << 15;
constexpr std::uint64_t kNearRows = std::uint64_t{1} << 17;

// All times are in nanoseconds (docs/inside/kernels.md).
constexpr double kCsrRowNs = 5;
constexpr double kCsrEntryNs = 0.5;
constexpr double kPackedRowNs = 2.5;
constexpr double kPackedEntryNs = 0.3;
constexpr double kBandEntryNs = 0.1;
constexpr double kCsrValueNs = 0.5;  // for each entry of a matrix with values
constexpr double kPackedValueNs = 0.3;
constexpr double kPlaceNs = 1.5;
constexpr double kStoredScaledNs = 0.4;  // for each row, if the scaled element is stored and read again
constexpr double kBandNs = 15;           // for each additional band
constexpr double kFarReadNs = 15;
constexpr double kFetchedReadNs = 10;  // for a far read by packed rows, which prefetch the element
constexpr double kPackRowNs = 14;
constexpr double kPackEntryNs = 1.4;
constexpr double kPackValueNs = 1.4;
constexpr double kRankRowNs = 12;
constexpr double kRankEntryNs = 2.3;

/// The sum of the `most` greatest counts, and the smallest of these counts.
struct Busiest {
  double entries = 0;
  double least = std::numeric_limits<double>::infinity();
};
Busiest busiest(std::vector<double> count, std::uint64_t most) {
  if (most < count.size()) {
    std::nth_element(count.begin(), count.begin() + static_cast<std::ptrdiff_t>(most), count.end(), std::greater<>());
    count.resize(most);
  }
  Busiest out;
  for (const double entries : count) {
    out.entries += entries;
    out.least = std::min(out.least, entries);
  }
  return out;
}

/// Counts the far reads: reads of columns that are neither near the diagonal nor on a cache line that is read so often
/// that it stays in the cache. Only one block of sixteen is examined.
void count_far_reads(const CsrMatrix& matrix, std::span<const double> reads, FormatCounts& counts) {
  constexpr std::uint64_t kOneIn = 16;
  std::vector<double> of_line((matrix.columns + kLineElements - 1) / kLineElements);
  for (std::uint64_t column = 0; column < matrix.columns; ++column) of_line[column / kLineElements] += reads[column];
  const double least = std::max(busiest(of_line, kNearLines).least, 1.0);
  const std::uint64_t blocks = block_count(matrix.rows);
  std::uint64_t far = 0;
  std::uint64_t seen = 0;
#pragma omp parallel for schedule(static) reduction(+ : far, seen)
  for (std::uint64_t block = 0; block < blocks; block += kOneIn) {
    const std::uint64_t last = std::min((block + 1) * kBlockRows, matrix.rows);
    for (std::uint64_t row = block * kBlockRows; row < last; ++row) {
      for (std::uint64_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) {
        const std::uint64_t column = matrix.column[e];
        const std::uint64_t distance = column > row ? column - row : row - column;
        far += distance > kNearRows && of_line[column / kLineElements] < least ? 1u : 0u;
        ++seen;
      }
    }
  }
  const auto entries = static_cast<double>(matrix.nonzeros());
  counts.far_reads = seen == 0 ? 0 : entries * static_cast<double>(far) / static_cast<double>(seen);
  counts.far_reads_ranked =
      std::max(0.0, entries - busiest({reads.begin(), reads.end()}, kNearLines * kLineElements).entries);
}

std::uint64_t entries_of_single_rows(const CsrMatrix& matrix, const RowBands& rows) noexcept {
  return matrix.nonzeros() - entries_in_bands(rows, 0, rows.block.size() - 1);
}

}  // namespace

double iteration_ns(const FormatCounts& counts, MatrixFormat format) noexcept {
  const auto rows = static_cast<double>(counts.rows);
  const auto entries = static_cast<double>(counts.entries);
  const auto single_rows = static_cast<double>(counts.single_rows);
  const auto single_entries = static_cast<double>(counts.single_entries);
  const double csr_entry_ns = kCsrEntryNs + (counts.values ? kCsrValueNs : 0);
  const double packed_entry_ns = kPackedEntryNs + (counts.values ? kPackedValueNs : 0);
  switch (format) {
    case MatrixFormat::kRanked:
      return (kPackedRowNs + kPlaceNs) * rows + packed_entry_ns * entries + kFetchedReadNs * counts.far_reads_ranked;
    case MatrixFormat::kPacked:
      return kPackedRowNs * single_rows + packed_entry_ns * single_entries + kBandEntryNs * (entries - single_entries) +
             kFetchedReadNs * counts.far_reads;
    case MatrixFormat::kBands:
      return kCsrRowNs * single_rows + csr_entry_ns * single_entries + kBandEntryNs * (entries - single_entries) +
             kFarReadNs * counts.far_reads;
    default: return kCsrRowNs * rows + csr_entry_ns * entries + kFarReadNs * counts.far_reads;
  }
}

double conversion_ns(const FormatCounts& counts, MatrixFormat format) noexcept {
  const double entry_ns = kPackEntryNs + (counts.values ? kPackValueNs : 0);
  switch (format) {
    case MatrixFormat::kRanked:
      return (kPackRowNs + kRankRowNs) * static_cast<double>(counts.rows) +
             (entry_ns + kRankEntryNs) * static_cast<double>(counts.entries);
    case MatrixFormat::kPacked:
      return kPackRowNs * static_cast<double>(counts.single_rows) +
             entry_ns * static_cast<double>(counts.single_entries);
    default: return 0;
  }
}

MatrixFormat fastest_that_pays(const FormatCounts& counts, bool may_rank) noexcept {
  MatrixFormat best = MatrixFormat::kBands;
  for (const MatrixFormat format : {MatrixFormat::kPacked, MatrixFormat::kRanked}) {
    if (format == MatrixFormat::kRanked && !may_rank) continue;
    const double saved = iteration_ns(counts, best) - iteration_ns(counts, format);
    const double spent = conversion_ns(counts, format) - conversion_ns(counts, best);
    if (saved > 0 && saved * kPaysWithin >= spent) best = format;
  }
  return best;
}

MatrixFormat choose_format(const CsrMatrix& matrix, const RowBands& rows, std::span<const double> reads) {
  FormatCounts counts;
  counts.rows = matrix.rows;
  counts.entries = matrix.nonzeros();
  counts.values = !matrix.value.empty();
  counts.single_rows = rows.single.size();
  counts.single_entries = entries_of_single_rows(matrix, rows);
  // If the vector fits into the cache, or if most entries are in bands, another order saves no time.
  const bool may_rank = !reads.empty() && matrix.columns > kNearVector && 2 * counts.single_entries > counts.entries;
  if (may_rank) count_far_reads(matrix, reads, counts);
  return fastest_that_pays(counts, may_rank);
}

std::uint64_t most_bands_with_scales(const CsrMatrix& matrix, const RowBands& rows) noexcept {
  const auto single_entries = static_cast<double>(entries_of_single_rows(matrix, rows));
  const double saved_ns = kStoredScaledNs * static_cast<double>(matrix.rows) - kPackedValueNs * single_entries;
  return saved_ns <= 0 ? 0 : rows.band.size() + static_cast<std::uint64_t>(saved_ns / kBandNs);
}

Array<std::uint32_t> places_by_reads(std::span<const double> reads) {
  // There is a class for every binary exponent of a positive double, and one class for zeros and all other values.
  constexpr int kLowest = -1022;
  constexpr std::size_t kClasses = 1023 + 1022 + 2;
  const auto class_of = [](double count) {
    return count > 0 && std::isnormal(count) ? static_cast<std::size_t>(std::ilogb(count) - kLowest) + 1
                                             : std::size_t{0};
  };
  std::vector<std::uint64_t> next(kClasses);
  for (const double count : reads) ++next[class_of(count)];
  std::uint64_t before = 0;
  for (std::size_t c = kClasses; c-- > 0;) before += std::exchange(next[c], before);
  Array<std::uint32_t> place(reads.size());
  for (std::size_t i = 0; i < reads.size(); ++i) place[i] = static_cast<std::uint32_t>(next[class_of(reads[i])]++);
  return place;
}

}  // namespace ringside
