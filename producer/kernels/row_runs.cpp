#include "producer/kernels/row_runs.hpp"

#include <omp.h>

#include <algorithm>

#include "producer/kernels/block_rows.hpp"
#include "producer/kernels/row_partition.hpp"

namespace ringside {
namespace {

// Shorter runs save too little: their columns are stored twice.
constexpr std::uint64_t kMinRunRows = 16;

/// The first row that is not in the run that starts at `row`; at most `last`.
std::uint64_t end_of_run(const CsrMatrix& matrix, std::uint64_t row, std::uint64_t last) {
  const std::uint64_t entries = matrix.row_begin[row + 1] - matrix.row_begin[row];
  for (++row; row < last; ++row) {
    if (matrix.row_begin[row + 1] - matrix.row_begin[row] != entries) return row;
    const std::uint32_t* above = matrix.column.data() + matrix.row_begin[row - 1];
    const std::uint32_t* column = above + entries;
    for (std::uint64_t j = 0; j < entries; ++j) {
      if (column[j] != above[j] + 1) return row;
    }
  }
  return last;
}

/// Appends the rows of one block, [first, last), to `out`, which holds the blocks before it. scratch: kept by the
/// caller to save an allocation per block.
void describe_block(const CsrMatrix& matrix, bool look_for_runs, std::uint64_t first, std::uint64_t last,
                    std::vector<RowRun>& scratch, RowRuns& out) {
  const auto entries_of = [&](std::uint64_t row) { return matrix.row_begin[row + 1] - matrix.row_begin[row]; };
  scratch.clear();
  std::uint64_t entries_in_short_runs = 0;
  for (std::uint64_t row = first; row < last;) {
    const std::uint64_t end = look_for_runs ? end_of_run(matrix, row, last) : row + 1;
    if (end - row < kMinRunRows) entries_in_short_runs += entries_of(row);
    scratch.push_back({static_cast<std::uint16_t>(row - first), static_cast<std::uint16_t>(end - row),
                       static_cast<std::uint32_t>(entries_of(row))});
    row = end;
  }
  // A few short runs among longer ones (the border of a mesh) stay runs: in the matrix they are far from anything else
  // that is read, and each would cause a wait for memory.
  const std::uint64_t entries = matrix.row_begin[last] - matrix.row_begin[first];
  const bool keep_short_runs = look_for_runs && entries_in_short_runs * 16 <= entries;

  const std::size_t first_single = out.single.size();
  for (const RowRun& run : scratch) {
    if (keep_short_runs || run.rows >= kMinRunRows) {
      const std::uint32_t* column = matrix.column.data() + matrix.row_begin[first + run.first_row];
      out.run.push_back(run);
      out.run_column.insert(out.run_column.end(), column, column + run.entries);
    } else {
      for (int row = run.first_row; row < run.first_row + run.rows; ++row) {
        out.single.push_back(static_cast<std::uint16_t>(row));
      }
    }
  }
  std::stable_sort(out.single.begin() + static_cast<std::ptrdiff_t>(first_single), out.single.end(),
                   [&](std::uint16_t a, std::uint16_t b) { return entries_of(first + a) < entries_of(first + b); });
  out.block.push_back({out.run.size(), out.run_column.size(), out.single.size()});
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

RowRuns find_row_runs(const CsrMatrix& matrix, bool look_for_runs) {
  look_for_runs = look_for_runs && matrix.value.empty();
  const int threads = omp_get_max_threads();
  const std::vector<std::uint64_t> border = partition_blocks(matrix.row_begin.span(), threads);
  std::vector<RowRuns> parts(static_cast<std::size_t>(threads));
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int p = 0; p < threads; ++p) {
    const auto part = static_cast<std::size_t>(p);
    std::vector<RowRun> scratch;
    for (std::uint64_t block = border[part]; block < border[part + 1]; ++block) {
      const std::uint64_t first = block * kBlockRows;
      describe_block(matrix, look_for_runs, first, std::min(first + kBlockRows, matrix.rows), scratch, parts[part]);
    }
  }

  RowRuns all = std::move(parts[0]);
  all.block.insert(all.block.begin(), RowRunsBlock{});
  for (std::size_t part = 1; part < parts.size(); ++part) {
    const RowRunsBlock before = all.block.back();
    for (const RowRunsBlock& end : parts[part].block) {
      all.block.push_back({before.run + end.run, before.run_column + end.run_column, before.single + end.single});
    }
    append(all.run, parts[part].run);
    append(all.run_column, parts[part].run_column);
    append(all.single, parts[part].single);
  }
  return all;
}

}  // namespace ringside
