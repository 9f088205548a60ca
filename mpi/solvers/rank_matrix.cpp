// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/solvers/rank_matrix.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "common/kernels/hash.hpp"
#include "producer/kernels/block_rows.hpp"
#include "producer/kernels/row_partition.hpp"
#include "producer/matrix/matrix_part.hpp"

namespace ringside::mpi {
namespace {

template <class T>
Id128 hash_of(const Array<T>& array, std::uint64_t begin, std::uint64_t end) {
  return array.empty() ? Id128{} : hash128(array.data() + begin, (end - begin) * sizeof(T));
}

/// Of the content of one block of the part. Row beginnings count from the block's first entry.
Id128 block_hash(const CsrMatrix& part, std::uint64_t block) {
  const std::uint64_t first = block * kBlockRows;
  const std::uint64_t last = std::min(first + kBlockRows, part.rows);
  const std::uint64_t begin = part.row_begin[first];
  const std::uint64_t end = part.row_begin[last];
  std::array<std::uint64_t, kBlockRows> rows{};
  for (std::uint64_t row = first; row < last; ++row) rows[row - first] = part.row_begin[row + 1] - begin;
  const std::array<Id128, 4> content = {hash128(rows.data(), (last - first) * sizeof(rows[0])),
                                        hash_of(part.column, begin, end), hash_of(part.value, begin, end),
                                        hash_of(part.id, part.first_row + first, part.first_row + last)};
  return hash128(content.data(), sizeof content);
}

/// Of the whole: the hashes of all blocks, in their order.
Id128 content_id(const CsrMatrix& part, RankNeighbours& ranks) {
  std::vector<Id128> blocks(block_count(part.rows));
#pragma omp parallel for schedule(static)
  for (std::uint64_t block = 0; block < blocks.size(); ++block) blocks[block] = block_hash(part, block);
  const std::array<std::uint64_t, 3> shape = {part.all_rows(), part.columns,
                                              static_cast<std::uint64_t>(part.orientation)};
  Id128 id = hash128(shape.data(), sizeof shape);
  ranks.in_order(id, [&](Id128& all) noexcept {
    for (const Id128& block : blocks) {
      const std::array<Id128, 2> both = {all, block};
      all = hash128(both.data(), sizeof both);
    }
  });
  return id;
}

}  // namespace

CsrMatrix load_rank_matrix(const MatrixOptions& options, Orientation orientation, RankNeighbours& ranks) {
  CsrMatrix part;
  BlockBorders border;
  ranks.together([&] {
    const CsrMatrix whole = load_matrix(options, orientation);
    border = partition_blocks(whole.row_begin.span(), ranks.ranks());
    const auto own = static_cast<std::size_t>(ranks.rank());
    part = part_of(whole, std::min(border[own] * kBlockRows, whole.rows),
                   std::min(border[own + 1] * kBlockRows, whole.rows));
  });
  ranks.have_rows(std::move(border));
  part.content_id = content_id(part, ranks);
  return part;
}

}  // namespace ringside::mpi
