// SPDX-License-Identifier: BSD-3-Clause
#include "producer/kernels/row_layout.hpp"

#include <algorithm>

#include "common/platform/error.hpp"
#include "producer/kernels/block_parts.hpp"
#include "producer/kernels/format_choice.hpp"

namespace ringside {
namespace {

/// The work, counted in loads: one per entry, or an eighth of a load if eight rows or entries are loaded together; and
/// eight per row, because the row's elements of the vectors are read and written once.
std::vector<std::uint64_t> work_before(const CsrMatrix& matrix, const RowLayout& layout) {
  std::vector<std::uint64_t> before(block_count(matrix.rows) + 1);
  for (std::uint64_t block = 0; block + 1 < before.size(); ++block) {
    const std::uint64_t first = block * kBlockRows;
    const std::uint64_t last = std::min(first + kBlockRows, matrix.rows);
    const std::uint64_t in_bands = entries_in_bands(layout.rows, block, block + 1);
    const std::uint64_t others = matrix.row_begin[last] - matrix.row_begin[first] - in_bands;
    before[block + 1] = before[block] + kRowCost * (last - first) + in_bands / 8 +
                        (layout.packed.block.empty() ? others : layout.packed.block[block].words);
  }
  return before;
}

}  // namespace

MatrixFormat format_named(std::string_view name) {
  const auto found = std::find(kMatrixFormatNames.begin(), kMatrixFormatNames.end(), name);
  if (found == kMatrixFormatNames.end()) {
    throw usage_error("--matrix-format: found '{}', expected {}", name, joined(kMatrixFormatNames, "|"));
  }
  return static_cast<MatrixFormat>(found - kMatrixFormatNames.begin());
}

RowProduct RowLayout::product(const CsrMatrix& matrix) const noexcept {
  return {.rows = matrix.rows,
          .row_begin = matrix.row_begin.data(),
          .column = matrix.column.data(),
          .value = matrix.value.empty() ? nullptr : matrix.value.data(),
          .block = rows.block.data(),
          .band = rows.band.data(),
          .band_column = rows.band_column.data(),
          .band_weight = rows.band_weight.empty() ? nullptr : rows.band_weight.data(),
          .single = rows.single.data(),
          .packed = packed.block.empty() ? nullptr : packed.block.data(),
          .word = packed.word.data(),
          .packed_value = packed.value.empty() ? nullptr : packed.value.data(),
          .far = matrix.columns > kNearVector};
}

RowLayout make_row_layout(const CsrMatrix& matrix, MatrixFormat wanted, std::span<const double> reads,
                          std::span<const double> scale) {
  RowLayout layout;
  const bool with_bands = wanted != MatrixFormat::kCsr && wanted != MatrixFormat::kRanked;
  layout.rows = find_row_bands(matrix, with_bands);
  layout.format = wanted == MatrixFormat::kAuto ? choose_format(matrix, layout.rows, reads) : wanted;
  if (layout.format == MatrixFormat::kRanked) {
    if (!layout.rows.band.empty()) layout.rows = find_row_bands(matrix, false);
    layout.place = places_by_reads(reads);
  }
  const bool packs = layout.format == MatrixFormat::kPacked || layout.format == MatrixFormat::kRanked;
  if (!scale.empty() && layout.place.empty() && (packs || layout.rows.single.empty())) {
    const std::uint64_t most_bands = most_bands_with_scales(matrix, layout.rows);
    if (auto scaled = most_bands == 0 ? std::nullopt : with_scales(layout.rows, scale, most_bands)) {
      layout.rows = std::move(*scaled);
      layout.scales = true;
    }
  }
  if (packs) {
    layout.packed = pack_rows(matrix, layout.rows, layout.place.empty() ? nullptr : layout.place.data(),
                              layout.scales ? scale : std::span<const double>{});
  }
  layout.work_before = work_before(matrix, layout);
  return layout;
}

Array<double> group_values(std::span<const double> of_row) {
  Array<double> values((of_row.size() + kGroupRows - 1) / kGroupRows);
#pragma omp parallel for schedule(static)
  for (std::uint64_t group = 0; group < values.size(); ++group) {
    const std::uint64_t begin = group * kGroupRows;
    const auto rows = of_row.subspan(begin, std::min(kGroupRows, of_row.size() - begin));
    const bool shared = std::ranges::all_of(rows, [&](double value) { return value == rows[0]; });
    values[group] = shared ? rows[0] : kMixedGroup;
  }
  return values;
}

}  // namespace ringside
