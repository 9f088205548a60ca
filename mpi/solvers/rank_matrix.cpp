// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/solvers/rank_matrix.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"
#include "common/text/formatted.hpp"
#include "mpi/solvers/messages.hpp"
#include "mpi/solvers/row_exchange.hpp"
#include "producer/kernels/block_parts.hpp"
#include "producer/matrix/csr_builder.hpp"
#include "producer/matrix/grid.hpp"
#include "producer/matrix/matrix_part.hpp"
#include "producer/matrix/rmat.hpp"
#include "producer/matrix/shared_builder.hpp"
#include "producer/text/text_source.hpp"

namespace ringside::mpi {
namespace {

/// The hash of a range of an array. Empty ranges and empty arrays have the same hash, because a part without entries
/// has no array of values.
template <class T>
Id128 hash_of(const Array<T>& array, std::uint64_t begin, std::uint64_t end) {
  return array.empty() || begin == end ? Id128{} : hash128(array.data() + begin, (end - begin) * sizeof(T));
}

/// The hash of one block of the part. In the hash, row beginnings count from the block's first entry.
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

/// The hash of the whole matrix: the hash over the hashes of all blocks, in order.
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

/// The borders that give each rank about equal work. entries_before(row): the number of entries in all earlier rows.
template <class EntriesBefore>
BlockBorders borders(std::uint64_t rows, int ranks, const EntriesBefore& entries_before) {
  std::vector<std::uint64_t> work;
  for (std::uint64_t block = 0; block <= block_count(rows); ++block) {
    const std::uint64_t row = std::min(block * kBlockRows, rows);
    work.push_back(entries_before(row) + kRowCost * row);
  }
  return partition_work(work, ranks);
}

/// entries: the number of this rank's entries in each block of rows.
BlockBorders borders_of(std::vector<std::uint64_t> entries, std::uint64_t rows, const RankNeighbours& ranks) {
  MPI_Allreduce(MPI_IN_PLACE, entries.data(), static_cast<int>(entries.size()), MPI_UINT64_T, MPI_SUM,
                ranks.communicator());
  std::partial_sum(entries.begin(), entries.end(), entries.begin());
  return borders(rows, ranks.ranks(),
                 [&](std::uint64_t row) { return row == 0 ? 0 : entries[(row - 1) / kBlockRows]; });
}

/// The ranks that build a matrix from shares of its entries.
class RankBuild final : public SharedBuild {
 public:
  explicit RankBuild(const RankNeighbours& ranks) : ranks_(ranks) {}

  /// Valid after the call of share_rows.
  const BlockBorders& borders() const noexcept { return borders_; }

  std::size_t share() const noexcept override { return static_cast<std::size_t>(ranks_.rank()); }
  std::size_t shares() const noexcept override { return static_cast<std::size_t>(ranks_.ranks()); }
  std::uint64_t block_rows() const noexcept override { return kBlockRows; }

  std::uint64_t total(std::uint64_t lines) override {
    std::array<std::uint64_t, 2> sums = {lines == kWrongLine ? 1u : 0u, lines == kWrongLine ? 0 : lines};
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_UINT64_T, MPI_SUM, ranks_.communicator());
    return sums[0] > 0 ? kWrongLine : sums[1];
  }
  std::uint64_t before(std::uint64_t lines) override {
    std::uint64_t sum = 0;
    MPI_Exscan(&lines, &sum, 1, MPI_UINT64_T, MPI_SUM, ranks_.communicator());
    return ranks_.rank() == 0 ? 0 : sum;
  }
  std::vector<std::uint64_t> share_rows(std::uint64_t rows, std::vector<std::uint64_t> entries) override {
    borders_ = borders_of(std::move(entries), rows, ranks_);
    std::vector<std::uint64_t> first;
    for (const std::uint64_t block : borders_) first.push_back(std::min(block * kBlockRows, rows));
    return first;
  }
  std::vector<std::uint64_t> exchange(const std::vector<std::vector<std::uint64_t>>& to) override {
    return joined(ranks_.communicator(), to);
  }
  std::vector<double> exchange(const std::vector<std::vector<double>>& to) override {
    return joined(ranks_.communicator(), to);
  }

 private:
  const RankNeighbours& ranks_;
  BlockBorders borders_;
};

/// Data that show whether two files are different versions, without reading the whole files.
struct FileMark {
  std::uint64_t bytes = 0;
  std::array<Id128, 2> ends{};  // hashes of the first and of the last bytes
};

FileMark mark_of(const std::string& path) {
  constexpr std::size_t kEnd = std::size_t{64} << 10;
  const Text file = map_file(path);
  const std::size_t bytes = file.text.size();
  const std::size_t end = std::min(kEnd, bytes);
  return {bytes, {hash128(file.text.data(), end), hash128(file.text.data() + (bytes - end), end)}};
}

/// Checks that all ranks see the same file, because each rank decides from its own copy what the ranks do next.
/// Collective.
void check_same_file(const std::string& path, RankNeighbours& ranks) {
  FileMark own;
  ranks.together([&] { own = mark_of(path); });
  FileMark first = own;
  MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, ranks.communicator());
  ranks.together([&] {
    if (own.bytes == first.bytes && own.ends == first.ends) return;
    const std::string found = own.bytes == first.bytes
                                  ? formatted("{} bytes on both, with different content", own.bytes)
                                  : formatted("{} and {} bytes", first.bytes, own.bytes);
    throw usage_error("{} differs between rank 0 and rank {}: found {}, expected the same file on every node", path,
                      ranks.rank(), found);
  });
}

/// Checks that all ranks have mapped the same content, each rank on its own machine. Collective.
void check_same_content(const std::string& matrix, const Id128& own, RankNeighbours& ranks) {
  Id128 first = own;
  MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, ranks.communicator());
  ranks.together([&] {
    if (own == first) return;
    throw usage_error("the cache of {} differs between rank 0 and rank {}: found content {} and {}, expected the same on "
                      "every node",
                      matrix, ranks.rank(), to_string(first), to_string(own));
  });
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

/// Rows were shared before duplicate entries were merged. This function moves rows between ranks until the work is
/// equal again.
CsrMatrix balanced(const CsrMatrix& part, const BlockBorders& before, BlockBorders& border, RankNeighbours& ranks) {
  std::vector<std::uint64_t> entries(block_count(part.all_rows()));
  for (std::uint64_t row = 0; row < part.rows; row += kBlockRows) {
    entries[(part.first_row + row) / kBlockRows] =
        part.row_begin[std::min(row + kBlockRows, part.rows)] - part.row_begin[row];
  }
  border = borders_of(std::move(entries), part.all_rows(), ranks);
  return moved(ranks.communicator(), part, before, border);
}

/// One rank of each machine checks the cache, or writes it; each rank reads its own rows from it.
CsrMatrix cached_part(const MatrixOptions& options, Orientation orientation, BlockBorders& border,
                      RankNeighbours& ranks) {
  const PlaceOnMachine place = ranks.place_on_machine();
  ranks.together([&] {
    if (place.rank == 0) (void)load_matrix(options, orientation);
  });
  CsrMatrix whole;
  ranks.together([&] { whole = map_matrix(options, orientation); });
  check_same_content(options.matrix, whole.content_id, ranks);
  CsrMatrix part;
  ranks.together([&] { part = own_part_of(whole, border, ranks); });
  return part;
}

/// Each rank reads a share of the text. All ranks find the same error in it.
CsrMatrix text_part(const MatrixOptions& options, Orientation orientation, BlockBorders& border,
                    RankNeighbours& ranks) {
  MatrixText input;
  ranks.together([&] { input = open_matrix_text(options); });
  RankBuild build(ranks);
  CsrMatrix part;
  std::optional<Error> wrong;
  try {
    part = read_matrix_share(input, options, {orientation, &build});
  } catch (const Error& error) {
    if (error.code() != ExitCode::kUsage) throw;  // this error is on this rank only
    wrong = error;
  }
  ranks.together([&] {
    if (wrong) throw *wrong;
  });
  return balanced(part, build.borders(), border, ranks);
}

CsrMatrix rmat_part(const RmatOptions& options, Orientation orientation, BlockBorders& border, RankNeighbours& ranks) {
  RankBuild build(ranks);
  const CsrMatrix part = make_rmat_share(options, {orientation, &build});
  return balanced(part, build.borders(), border, ranks);
}

CsrMatrix load_part(const MatrixOptions& options, Orientation orientation, BlockBorders& border,
                    RankNeighbours& ranks) {
  MatrixName name;
  ranks.together([&] { name = matrix_name(options.matrix); });
  if (!name.is_generated()) check_same_file(name.input.path, ranks);
  bool cached = false;
  ranks.together([&] { cached = has_cache(options); });
  if (cached) return cached_part(options, orientation, border, ranks);
  if (name.grid_side) return grid_part(*name.grid_side, orientation, border, ranks);
  if (name.rmat) return rmat_part(*name.rmat, orientation, border, ranks);
  return text_part(options, orientation, border, ranks);
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
