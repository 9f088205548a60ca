// SPDX-License-Identifier: BSD-3-Clause
// Shares rows among threads. Rows come in fixed blocks. One thread sums a whole block in a fixed order, and block sums
// are combined serially in block order. Thus no result depends on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "producer/kernels/block_rows.hpp"

namespace ringside {

/// A row costs about as much as eight entries: its vectors are read and written once, an entry is one cached load.
inline constexpr std::uint64_t kRowCost = 8;

/// Shares the blocks of a matrix among `parts` threads (at least 1) so that each gets about as much work: nonzeros plus
/// a constant per row. row_begin: rows + 1 offsets, as in CsrMatrix. Returns parts + 1 ascending block numbers; part p
/// owns the blocks [result[p], result[p + 1]), which may be none.
std::vector<std::uint64_t> partition_blocks(std::span<const std::uint64_t> row_begin, int parts);

/// The same by given amounts of work. work_before: blocks + 1; the work of all blocks before each one.
std::vector<std::uint64_t> partition_work(std::span<const std::uint64_t> work_before, int parts);

}  // namespace ringside
