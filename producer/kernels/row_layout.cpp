#include "producer/kernels/row_layout.hpp"

#include <algorithm>
#include <array>

#include "common/platform/error.hpp"
#include "producer/kernels/block_rows.hpp"
#include "producer/kernels/kernel_choice.hpp"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"auto", "csr", "runs", "packed", "ranked"};

/// Work in loads: one per entry, or an eighth where eight rows or entries are loaded together; and eight per row,
/// whose vectors are read and written once.
std::vector<std::uint64_t> work_before(const CsrMatrix& matrix, const RowLayout& layout) {
  constexpr std::uint64_t kRowCost = 8;
  std::vector<std::uint64_t> before(block_count(matrix.rows) + 1);
  for (std::uint64_t block = 0; block + 1 < before.size(); ++block) {
    const std::uint64_t first = block * kBlockRows;
    const std::uint64_t last = std::min(first + kBlockRows, matrix.rows);
    std::uint64_t in_runs = 0;
    for (std::uint64_t r = layout.rows.block[block].run; r < layout.rows.block[block + 1].run; ++r) {
      in_runs += std::uint64_t{layout.rows.run[r].rows} * layout.rows.run[r].entries;
    }
    const std::uint64_t others = matrix.row_begin[last] - matrix.row_begin[first] - in_runs;
    before[block + 1] = before[block] + kRowCost * (last - first) + in_runs / 8 +
                        (layout.packed.block.empty() ? others : layout.packed.block[block].words);
  }
  return before;
}

}  // namespace

std::string_view to_string(Kernel kernel) noexcept {
  return kNames[static_cast<std::size_t>(kernel)];
}

Kernel kernel_named(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) throw usage_error("--kernel: found '{}', expected auto|csr|runs|packed|ranked", name);
  return static_cast<Kernel>(found - kNames.begin());
}

RowProduct RowLayout::product(const CsrMatrix& matrix) const noexcept {
  return {.rows = matrix.rows,
          .row_begin = matrix.row_begin.data(),
          .column = matrix.column.data(),
          .value = matrix.value.empty() ? nullptr : matrix.value.data(),
          .block = rows.block.data(),
          .run = rows.run.data(),
          .run_column = rows.run_column.data(),
          .single = rows.single.data(),
          .packed = packed.block.empty() ? nullptr : packed.block.data(),
          .word = packed.word.data(),
          .packed_value = packed.value.empty() ? nullptr : packed.value.data(),
          .far = matrix.columns > kNearVector};
}

RowLayout make_row_layout(const CsrMatrix& matrix, Kernel wanted, std::span<const double> reads) {
  RowLayout layout;
  const bool with_runs = wanted != Kernel::kCsr && wanted != Kernel::kRanked;
  layout.rows = find_row_runs(matrix, with_runs);
  layout.kernel = wanted == Kernel::kAuto ? choose_kernel(matrix, layout.rows, reads) : wanted;
  if (layout.kernel == Kernel::kRanked) {
    if (!layout.rows.run.empty()) layout.rows = find_row_runs(matrix, false);
    layout.place = places_by_reads(reads);
  }
  if (layout.kernel == Kernel::kPacked || layout.kernel == Kernel::kRanked) {
    layout.packed = pack_rows(matrix, layout.rows, layout.place.empty() ? nullptr : layout.place.data());
  }
  layout.work_before = work_before(matrix, layout);
  return layout;
}

}  // namespace ringside
