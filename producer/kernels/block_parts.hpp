// SPDX-License-Identifier: BSD-3-Clause
// Divides all or some of a matrix's blocks of rows into parts of about equal work for a team (common/threads/team.hpp).
// One thread sums a whole block in a fixed order, and block sums are combined serially in block order. Therefore no
// result depends on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/threads/team.hpp"
#include "producer/kernels/block_rows.hpp"
#include "producer/matrix/array.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// A row costs about as much as eight entries: for a row, the elements of the vectors are read and written once; an
/// entry is one load from the cache.
inline constexpr std::uint64_t kRowCost = 8;

/// Shares the blocks of a matrix among `parts` threads (at least 1), so that all threads get about the same work:
/// nonzeros plus a constant per row. row_begin: rows + 1 offsets, as in CsrMatrix. Returns parts + 1 ascending block
/// numbers; part p owns the blocks [result[p], result[p + 1]), which may be none.
std::vector<std::uint64_t> partition_blocks(std::span<const std::uint64_t> row_begin, int parts);

/// Shares the blocks by given amounts of work. work_before: blocks + 1 values, which are the work of all blocks before
/// each block.
std::vector<std::uint64_t> partition_work(std::span<const std::uint64_t> work_before, int parts);

class BlockParts {
 public:
  /// Divides by entries and rows. row_begin: rows + 1 offsets, as in CsrMatrix. team: must outlive the parts.
  static BlockParts by_entries(std::span<const std::uint64_t> row_begin, Team& team) {
    return {partition_blocks(row_begin, parts_for(team, block_count(row_begin.size() - 1))), team};
  }
  /// Divides by given amounts of work. work_before: as for partition_work.
  static BlockParts by_work(std::span<const std::uint64_t> work_before, Team& team) {
    return {partition_work(work_before, parts_for(team, work_before.size() - 1)), team};
  }
  /// Divides only some blocks, given in ascending order. work_before: as for partition_work, for all blocks.
  static BlockParts of_some(std::span<const std::uint64_t> blocks, std::span<const std::uint64_t> work_before,
                            Team& team) {
    std::vector<std::uint64_t> work{0};
    for (const std::uint64_t block : blocks) {
      work.push_back(work.back() + work_before[block + 1] - work_before[block]);
    }
    return {partition_work(work, parts_for(team, blocks.size())), team, blocks};
  }

  bool empty() const noexcept { return runs_.empty(); }

  /// Calls work(first_block, last_block) for contiguous blocks, until every block has been passed to it.
  template <class Work>
  void for_each(const Work& work) const noexcept {
    team_->share(part_.size() - 1, [&](std::uint64_t part, int) noexcept {
      for (std::uint64_t run = part_[part]; run < part_[part + 1]; ++run) work(runs_[run].first, runs_[run].last);
    });
  }

 private:
  struct Run {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };

  // For helper threads. 32 blocks of a mesh take some 40 us; a thread should not wait longer than this for another
  // thread's last part.
  static constexpr std::uint64_t kBlocksInPart = 32;

  static int parts_for(const Team& team, std::uint64_t blocks) {
    return static_cast<int>(team.pieces(blocks, kBlocksInPart));
  }

  /// border: positions in `blocks`; numbers of blocks if `blocks` is empty.
  BlockParts(const std::vector<std::uint64_t>& border, Team& team, std::span<const std::uint64_t> blocks = {})
      : team_(&team), part_{0} {
    for (std::size_t part = 0; part + 1 < border.size(); ++part) {
      if (blocks.empty()) {
        if (border[part] < border[part + 1]) runs_.push_back({border[part], border[part + 1]});
      } else {
        add_runs(blocks.subspan(border[part], border[part + 1] - border[part]));
      }
      part_.push_back(runs_.size());
    }
  }

  void add_runs(std::span<const std::uint64_t> blocks) {
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      if (at == 0 || blocks[at] != runs_.back().last) runs_.push_back({blocks[at], blocks[at]});
      ++runs_.back().last;
    }
  }

  Team* team_;
  std::vector<Run> runs_;
  std::vector<std::uint64_t> part_;  // part p has the runs [part_[p], part_[p + 1])
};

/// The blocks of a matrix's part in two sets: with and without rows that read a ghost
/// (producer/matrix/matrix_part.hpp). Blocks that read no ghost can be multiplied before the ghosts arrive from other
/// processes. A whole matrix has only blocks of this kind.
///
/// The members hold block numbers in ascending order. Each block is in `interior` or in `at_border`.
struct BlockSets {
  std::vector<std::uint64_t> interior;
  std::vector<std::uint64_t> at_border;  // blocks with a row that reads a ghost
  std::vector<std::uint64_t> read;       // blocks of own rows that are at the border, or that rows at the border read
};

/// part: with numbered ghosts, and with its entries.
BlockSets find_block_sets(const CsrMatrix& part);

struct ProductParts {
  ProductParts(const BlockSets& sets, std::span<const std::uint64_t> work_before, Team& team)
      : interior(BlockParts::of_some(sets.interior, work_before, team)),
        at_border(BlockParts::of_some(sets.at_border, work_before, team)) {}

  BlockParts interior;
  BlockParts at_border;
};

/// A copy of a published step's vector, followed by its ghosts, for the rows at a part's border. A step's memory has no
/// room for ghosts, so only the elements that these rows read are copied; other rows read the step itself.
class GhostedVector {
 public:
  /// part: with numbered ghosts.
  GhostedVector(const CsrMatrix& part, const BlockSets& sets, std::span<const std::uint64_t> work_before, Team& team)
      : rows_(part.rows),
        vector_(sets.at_border.empty() ? 0 : part.columns),
        copied_(BlockParts::of_some(sets.read, work_before, team)) {}

  /// Own rows and ghosts.
  double* data() noexcept { return vector_.data(); }

  /// Copies the elements of `own` that rows at the border read.
  const double* copy(const double* own) noexcept {
    copied_.for_each([&](std::uint64_t first, std::uint64_t last) {
      const std::uint64_t end = std::min(last * kBlockRows, rows_);
      std::copy(own + first * kBlockRows, own + end, vector_.data() + first * kBlockRows);
    });
    return vector_.data();
  }

 private:
  std::uint64_t rows_;
  Array<double> vector_;
  BlockParts copied_;
};

}  // namespace ringside
