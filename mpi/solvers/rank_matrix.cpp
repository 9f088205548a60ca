// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/solvers/rank_matrix.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "common/kernels/hash.hpp"
#include "mpi/solvers/messages.hpp"
#include "mpi/solvers/row_exchange.hpp"
#include "producer/kernels/block_rows.hpp"
#include "producer/kernels/row_partition.hpp"
#include "producer/matrix/grid.hpp"
#include "producer/matrix/matrix_part.hpp"
#include "producer/matrix/rmat.hpp"

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

/// Borders of about equal work. entries_before(row): of all rows before.
template <class EntriesBefore>
BlockBorders borders(std::uint64_t rows, int ranks, const EntriesBefore& entries_before) {
  std::vector<std::uint64_t> work;
  for (std::uint64_t block = 0; block <= block_count(rows); ++block) {
    const std::uint64_t row = std::min(block * kBlockRows, rows);
    work.push_back(entries_before(row) + kRowCost * row);
  }
  return partition_work(work, ranks);
}

CsrMatrix own_part_of(const CsrMatrix& whole, BlockBorders& border, const RankNeighbours& ranks) {
  border = borders(whole.rows, ranks.ranks(), [&](std::uint64_t row) { return whole.row_begin[row]; });
  const Rows own = rows_of(border, ranks.rank(), whole.rows);
  return part_of(whole, own.first, own.last);
}

CsrMatrix grid_part(std::uint32_t side, Orientation orientation, BlockBorders& border, RankNeighbours& ranks) {
  const std::uint64_t rows = std::uint64_t{side} * side;
  border = borders(rows, ranks.ranks(), [&](std::uint64_t row) { return grid_links_before(side, row); });
  const Rows own = rows_of(border, ranks.rank(), rows);
  CsrMatrix part;
  ranks.together([&] { part = make_grid_part(side, orientation, own.first, own.last); });
  return part;
}

/// The ranks share a count of all edges, by which each gets about equally many. When duplicates have collapsed, rows move to where
/// they make the work equal.
CsrMatrix rmat_part(const RmatOptions& options, Orientation orientation, BlockBorders& border, RankNeighbours& ranks) {
  std::vector<std::uint64_t> entries;
  ranks.together([&] {
    entries = count_rmat_edges(options, orientation, kBlockRows, static_cast<std::uint64_t>(ranks.rank()),
                               static_cast<std::uint64_t>(ranks.ranks()));
  });
  const auto add_all = [&] {
    MPI_Allreduce(MPI_IN_PLACE, entries.data(), static_cast<int>(entries.size()), MPI_UINT64_T, MPI_SUM,
                  ranks.communicator());
    std::partial_sum(entries.begin(), entries.end(), entries.begin());
  };
  const std::uint64_t rows = std::uint64_t{1} << options.scale;
  const auto before = [&](std::uint64_t row) { return row == 0 ? 0 : entries[(row - 1) / kBlockRows]; };
  add_all();
  const BlockBorders made_by = borders(rows, ranks.ranks(), before);
  const Rows own = rows_of(made_by, ranks.rank(), rows);
  CsrMatrix part;
  ranks.together([&] { part = make_rmat_part(options, orientation, own.first, own.last); });

  std::ranges::fill(entries, 0);
  for (std::uint64_t row = 0; row < part.rows; row += kBlockRows) {
    entries[(part.first_row + row) / kBlockRows] =
        part.row_begin[std::min(row + kBlockRows, part.rows)] - part.row_begin[row];
  }
  add_all();
  border = borders(rows, ranks.ranks(), before);
  return moved(ranks.communicator(), part, made_by, border);
}

/// One rank of each machine checks the cache, or writes it; each rank reads its own rows from it.
CsrMatrix cached_part(const MatrixOptions& options, Orientation orientation, BlockBorders& border,
                      RankNeighbours& ranks) {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(ranks.communicator(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  int place = 0;
  MPI_Comm_rank(machine, &place);
  MPI_Comm_free(&machine);
  ranks.together([&] {
    if (place == 0) (void)load_matrix(options, orientation);
  });
  CsrMatrix part;
  ranks.together([&] { part = own_part_of(map_matrix(options, orientation), border, ranks); });
  return part;
}

/// The first rank reads the text, and sends each rank its rows.
CsrMatrix text_part(const MatrixOptions& options, Orientation orientation, BlockBorders& border,
                    RankNeighbours& ranks) {
  CsrMatrix whole;
  BlockBorders found(static_cast<std::size_t>(ranks.ranks()) + 1);
  ranks.together([&] {
    if (ranks.rank() != 0) return;
    whole = load_matrix(options, orientation);
    found = borders(whole.rows, ranks.ranks(), [&](std::uint64_t row) { return whole.row_begin[row]; });
  });
  border = std::move(found);
  MPI_Bcast(border.data(), static_cast<int>(border.size()), MPI_UINT64_T, 0, ranks.communicator());
  std::array<std::uint64_t, 3> shape = {whole.rows, whole.columns, whole.id.size()};
  MPI_Bcast(shape.data(), 3, MPI_UINT64_T, 0, ranks.communicator());
  if (ranks.rank() != 0) {
    whole.columns = shape[1];
    whole.orientation = orientation;
    whole.first_row = whole.rows_elsewhere = shape[0];
    whole.row_begin = Array<std::uint64_t>(1);
    whole.id = Array<std::uint64_t>(shape[2]);
  }
  broadcast(ranks.communicator(), 0, whole.id.data(), whole.id.bytes());
  BlockBorders read_by(border.size(), border.back());
  read_by.front() = 0;
  return moved(ranks.communicator(), whole, read_by, border);
}

CsrMatrix load_part(const MatrixOptions& options, Orientation orientation, BlockBorders& border,
                    RankNeighbours& ranks) {
  std::optional<Generated> generator;
  bool cached = false;
  ranks.together([&] {
    generator = generator_of(options.matrix);
    cached = has_cache(options);
  });
  if (cached) return cached_part(options, orientation, border, ranks);
  if (!generator) return text_part(options, orientation, border, ranks);
  return generator->grid_side ? grid_part(*generator->grid_side, orientation, border, ranks)
                              : rmat_part(generator->rmat, orientation, border, ranks);
}

}  // namespace

CsrMatrix load_rank_matrix(const MatrixOptions& options, Orientation orientation, RankNeighbours& ranks) {
  BlockBorders border;
  CsrMatrix part = load_part(options, orientation, border, ranks);
  ranks.have_rows(std::move(border));
  part.content_id = content_id(part, ranks);
  return part;
}

}  // namespace ringside::mpi
