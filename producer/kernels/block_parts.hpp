// SPDX-License-Identifier: BSD-3-Clause
// A matrix's blocks of rows, cut into parts of about equal work for a team (common/threads/team.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/threads/team.hpp"
#include "producer/kernels/row_partition.hpp"

namespace ringside {

class BlockParts {
 public:
  /// Cuts by entries and rows. row_begin: rows + 1 offsets, as in CsrMatrix. team: must outlive the parts.
  static BlockParts by_entries(std::span<const std::uint64_t> row_begin, Team& team) {
    return {partition_blocks(row_begin, parts_for(team, block_count(row_begin.size() - 1))), team};
  }
  /// Cuts by given amounts of work. work_before: blocks + 1; the work of all blocks before each one.
  static BlockParts by_work(std::span<const std::uint64_t> work_before, Team& team) {
    return {partition_work(work_before, parts_for(team, work_before.size() - 1)), team};
  }

  /// Calls work(first_block, last_block) for every part that has blocks.
  template <class Work>
  void for_each(const Work& work) const noexcept {
    team_->share(border_.size() - 1, [&](std::uint64_t part, int) noexcept {
      if (border_[part] < border_[part + 1]) work(border_[part], border_[part + 1]);
    });
  }

 private:
  // For helper threads: 32 blocks of a mesh take some 40 us, the longest time for which a thread should wait for
  // another one's last part.
  static constexpr std::uint64_t kBlocksInPart = 32;

  static int parts_for(const Team& team, std::uint64_t blocks) {
    return static_cast<int>(team.pieces(blocks, kBlocksInPart));
  }

  BlockParts(std::vector<std::uint64_t> border, Team& team) : team_(&team), border_(std::move(border)) {}

  Team* team_;
  std::vector<std::uint64_t> border_;  // part p has the blocks [border_[p], border_[p + 1])
};

}  // namespace ringside
