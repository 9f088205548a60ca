// SPDX-License-Identifier: BSD-3-Clause
#include "producer/kernels/block_parts.hpp"

#include <algorithm>

namespace ringside {
namespace {

/// work_before(b): the work of the blocks 0 .. b - 1.
template <class WorkBefore>
std::vector<std::uint64_t> shares(std::uint64_t blocks, int parts, const WorkBefore& work_before) {
  const std::uint64_t work = work_before(blocks);
  std::vector<std::uint64_t> border(static_cast<std::size_t>(parts) + 1, blocks);
  border[0] = 0;
  for (std::size_t part = 1; part < static_cast<std::size_t>(parts); ++part) {
    const double share = static_cast<double>(work) * static_cast<double>(part) / parts;
    // The first border at which the work reaches the share, or the previous border if its work is nearer to the share.
    std::uint64_t low = border[part - 1];
    std::uint64_t high = blocks;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (static_cast<double>(work_before(middle)) < share) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low > border[part - 1] &&
        share - static_cast<double>(work_before(low - 1)) < static_cast<double>(work_before(low)) - share) {
      --low;
    }
    border[part] = low;
  }
  return border;
}

}  // namespace

std::vector<std::uint64_t> partition_blocks(std::span<const std::uint64_t> row_begin, int parts) {
  const std::uint64_t rows = row_begin.empty() ? 0 : row_begin.size() - 1;
  return shares(block_count(rows), parts, [&](std::uint64_t block) {
    const std::uint64_t row = std::min(block * kBlockRows, rows);
    return rows == 0 ? 0 : row_begin[row] - row_begin[0] + kRowCost * row;
  });
}

std::vector<std::uint64_t> partition_work(std::span<const std::uint64_t> work_before, int parts) {
  return shares(work_before.size() - 1, parts, [&](std::uint64_t block) { return work_before[block]; });
}

BlockSets find_block_sets(const CsrMatrix& part) {
  const std::uint64_t blocks = block_count(part.rows);
  std::vector<bool> is_read(blocks);
  BlockSets sets;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const std::uint64_t begin = part.row_begin[block * kBlockRows];
    const std::uint64_t end = part.row_begin[std::min((block + 1) * kBlockRows, part.rows)];
    const std::span<const std::uint32_t> columns = part.column.span().subspan(begin, end - begin);
    const auto is_ghost = [&](std::uint32_t column) { return column >= part.rows; };
    const bool waits = part.columns > part.rows && std::ranges::any_of(columns, is_ghost);
    (waits ? sets.at_border : sets.interior).push_back(block);
    if (!waits) continue;
    is_read[block] = true;
    for (const std::uint32_t column : columns) {
      if (!is_ghost(column)) is_read[column / kBlockRows] = true;
    }
  }
  for (std::uint64_t block = 0; block < blocks; ++block) {
    if (is_read[block]) sets.read.push_back(block);
  }
  return sets;
}

}  // namespace ringside
