// SPDX-License-Identifier: BSD-3-Clause
// A matrix's blocks of rows, or some of them, cut into parts of about equal work for a team (common/threads/team.hpp).
#pragma once

#include <cstdint>
#include <span>
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
  /// The same of some blocks only, which ascend.
  static BlockParts of_some(std::span<const std::uint64_t> blocks, std::span<const std::uint64_t> work_before,
                            Team& team) {
    std::vector<std::uint64_t> work{0};
    for (const std::uint64_t block : blocks) {
      work.push_back(work.back() + work_before[block + 1] - work_before[block]);
    }
    return {partition_work(work, parts_for(team, blocks.size())), team, blocks};
  }

  bool empty() const noexcept { return runs_.empty(); }

  /// Calls work(first_block, last_block) for blocks that follow each other, until each block had its turn.
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

  // For helper threads: 32 blocks of a mesh take some 40 us, the longest time for which a thread should wait for
  // another one's last part.
  static constexpr std::uint64_t kBlocksInPart = 32;

  static int parts_for(const Team& team, std::uint64_t blocks) {
    return static_cast<int>(team.pieces(blocks, kBlocksInPart));
  }

  /// border: in `blocks`, or if that is empty in the numbers of all blocks.
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

}  // namespace ringside
