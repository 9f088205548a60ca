// How rows are shared among threads. Rows come in fixed blocks; a block belongs to one thread as a whole, which sums it
// in a fixed order, and block sums are combined serially in block order. So no result depends on how many threads there
// are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "producer/kernels/block_rows.hpp"

namespace ringside {

/// Shares the blocks of a matrix among `parts` threads (at least 1) so that each gets about as much work: nonzeros plus
/// a constant per row. row_begin: rows + 1 offsets, as in CsrMatrix. Returns parts + 1 ascending block numbers; part p
/// owns the blocks [result[p], result[p + 1]), which may be none.
std::vector<std::uint64_t> partition_blocks(std::span<const std::uint64_t> row_begin, int parts);

/// The same by given amounts of work. work_before: blocks + 1, what all blocks before each one take.
std::vector<std::uint64_t> partition_work(std::span<const std::uint64_t> work_before, int parts);

}  // namespace ringside
