// SPDX-License-Identifier: BSD-3-Clause
#include "producer/kernels/product_parts.hpp"

#include <algorithm>
#include <span>

#include "producer/kernels/block_rows.hpp"

namespace ringside {

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
