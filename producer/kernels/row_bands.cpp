// SPDX-License-Identifier: BSD-3-Clause
#include "producer/kernels/row_bands.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "common/threads/first_failure.hpp"
#include "producer/kernels/block_parts.hpp"

namespace ringside {
namespace {

// Bands of fewer rows save too little, because the entries of their first rows are stored twice.
constexpr std::uint64_t kMinBandRows = 16;

/// The first row after the band that starts at `row`, but at most `last`.
std::uint64_t end_of_band(const CsrMatrix& matrix, std::uint64_t row, std::uint64_t last) {
  const std::uint64_t entries = matrix.row_begin[row + 1] - matrix.row_begin[row];
  for (++row; row < last; ++row) {
    if (matrix.row_begin[row + 1] - matrix.row_begin[row] != entries) return row;
    const std::uint64_t above = matrix.row_begin[row - 1];
    const std::uint32_t* const column = matrix.column.data() + above;
    for (std::uint64_t j = 0; j < entries; ++j) {
      if (column[entries + j] != column[j] + 1) return row;
    }
    if (matrix.value.empty()) continue;
    const double* const value = matrix.value.data() + above;
    if (std::memcmp(value + entries, value, entries * sizeof(double)) != 0) return row;
  }
  return last;
}

/// Appends the rows of one block, [first, last), to `out`, which holds the earlier blocks. scratch: memory that the
/// caller keeps, to save an allocation per block.
void describe_block(const CsrMatrix& matrix, bool look_for_bands, std::uint64_t first, std::uint64_t last,
                    std::vector<RowBand>& scratch, RowBands& out) {
  const auto entries_of = [&](std::uint64_t row) { return matrix.row_begin[row + 1] - matrix.row_begin[row]; };
  scratch.clear();
  std::uint64_t entries_in_short_bands = 0;
  for (std::uint64_t row = first; row < last;) {
    const std::uint64_t end = look_for_bands ? end_of_band(matrix, row, last) : row + 1;
    if (end - row < kMinBandRows) entries_in_short_bands += entries_of(row);
    scratch.push_back({static_cast<std::uint16_t>(row - first), static_cast<std::uint16_t>(end - row),
                       static_cast<std::uint32_t>(entries_of(row))});
    row = end;
  }
  // A few short bands among longer ones (as at the border of a mesh) stay bands. As single rows they would be read from
  // the matrix, far from all other reads, and each of these rows would cause a wait for memory.
  const std::uint64_t entries = matrix.row_begin[last] - matrix.row_begin[first];
  const bool keep_short_bands = look_for_bands && entries_in_short_bands * 16 <= entries;

  const std::size_t first_single = out.single.size();
  for (const RowBand& band : scratch) {
    if (keep_short_bands || band.rows >= kMinBandRows) {
      const std::uint32_t* column = matrix.column.data() + matrix.row_begin[first + band.first_row];
      out.band.push_back(band);
      out.band_column.insert(out.band_column.end(), column, column + band.entries);
      if (!matrix.value.empty()) {
        const double* value = matrix.value.data() + matrix.row_begin[first + band.first_row];
        out.band_weight.insert(out.band_weight.end(), value, value + band.entries);
      }
    } else {
      for (int row = band.first_row; row < band.first_row + band.rows; ++row) {
        out.single.push_back(static_cast<std::uint16_t>(row));
      }
    }
  }
  std::stable_sort(out.single.begin() + static_cast<std::ptrdiff_t>(first_single), out.single.end(),
                   [&](std::uint16_t a, std::uint16_t b) { return entries_of(first + a) < entries_of(first + b); });
  out.block.push_back({out.band.size(), out.band_column.size(), out.single.size()});
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Appends the bands of one block, divided where a scale changes.
void scale_block(const RowBands& rows, std::uint64_t block, std::span<const double> scale, RowBands& out) {
  const std::uint32_t* column = rows.band_column.data() + rows.block[block].band_column;
  for (std::uint64_t b = rows.block[block].band; b < rows.block[block + 1].band; ++b) {
    const RowBand& band = rows.band[b];
    bool begins[kBlockRows] = {true};  // whether a band of the result begins at this row of the band
    for (std::uint32_t j = 0; j < band.entries; ++j) {
      const double* const of_row = scale.data() + column[j];
      for (std::uint32_t row = 1; row < band.rows; ++row) begins[row] |= of_row[row] != of_row[row - 1];
    }
    for (std::uint32_t row = 0; row < band.rows;) {
      const auto end = static_cast<std::uint32_t>(std::find(begins + row + 1, begins + band.rows, true) - begins);
      out.band.push_back(
          {static_cast<std::uint16_t>(band.first_row + row), static_cast<std::uint16_t>(end - row), band.entries});
      for (std::uint32_t j = 0; j < band.entries; ++j) {
        out.band_column.push_back(column[j] + row);
        out.band_weight.push_back(scale[column[j] + row]);
      }
      row = end;
    }
    column += band.entries;
  }
  out.block.push_back({out.band.size(), out.band_column.size(), 0});
}

/// Calls describe(first_block, last_block, out), which appends its blocks to `out`, for each part that `border` bounds,
/// in parallel; and joins the parts.
template <class Describe>
RowBands in_parts(const std::vector<std::uint64_t>& border, const Describe& describe) {
  std::vector<RowBands> parts(border.size() - 1);
  FirstFailure failure;
  const int count = static_cast<int>(parts.size());
#pragma omp parallel for schedule(static, 1) num_threads(count)
  for (int p = 0; p < count; ++p) {
    const auto part = static_cast<std::size_t>(p);
    failure.guard([&] { describe(border[part], border[part + 1], parts[part]); });
  }
  failure.rethrow();

  RowBands all = std::move(parts[0]);
  all.block.insert(all.block.begin(), RowBandsBlock{});
  for (std::size_t part = 1; part < parts.size(); ++part) {
    const RowBandsBlock before = all.block.back();
    for (const RowBandsBlock& end : parts[part].block) {
      all.block.push_back({before.band + end.band, before.band_column + end.band_column, before.single + end.single});
    }
    append(all.band, parts[part].band);
    append(all.band_column, parts[part].band_column);
    append(all.band_weight, parts[part].band_weight);
    append(all.single, parts[part].single);
  }
  return all;
}

}  // namespace

RowBands find_row_bands(const CsrMatrix& matrix, bool look_for_bands) {
  const std::vector<std::uint64_t> border = partition_blocks(matrix.row_begin.span(), omp_get_max_threads());
  return in_parts(border, [&](std::uint64_t first_block, std::uint64_t last_block, RowBands& out) {
    std::vector<RowBand> scratch;
    for (std::uint64_t block = first_block; block < last_block; ++block) {
      const std::uint64_t first = block * kBlockRows;
      describe_block(matrix, look_for_bands, first, std::min(first + kBlockRows, matrix.rows), scratch, out);
    }
  });
}

std::uint64_t entries_in_bands(const RowBands& rows, std::uint64_t first, std::uint64_t last) noexcept {
  std::uint64_t entries = 0;
  for (std::uint64_t band = rows.block[first].band; band < rows.block[last].band; ++band) {
    entries += std::uint64_t{rows.band[band].rows} * rows.band[band].entries;
  }
  return entries;
}

std::optional<RowBands> with_scales(const RowBands& rows, std::span<const double> scale, std::uint64_t most_bands) {
  std::vector<std::uint64_t> columns_before;
  for (const RowBandsBlock& block : rows.block) columns_before.push_back(block.band_column);
  const std::vector<std::uint64_t> border = partition_work(columns_before, omp_get_max_threads());
  std::atomic<std::uint64_t> bands = 0;
  RowBands out = in_parts(border, [&](std::uint64_t first_block, std::uint64_t last_block, RowBands& part) {
    for (std::uint64_t block = first_block; block < last_block && bands <= most_bands; ++block) {
      const std::size_t before = part.band.size();
      scale_block(rows, block, scale, part);
      bands += part.band.size() - before;
    }
  });
  if (bands > most_bands) return std::nullopt;
  out.single = rows.single;
  for (std::size_t block = 0; block < out.block.size(); ++block) out.block[block].single = rows.block[block].single;
  return out;
}

}  // namespace ringside
