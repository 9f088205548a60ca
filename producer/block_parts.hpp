// A matrix's blocks of rows, cut into parts of about equal work for a team (common/team.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/team.hpp"
#include "producer/row_partition.hpp"

namespace ringside {

// In threads that come and go: 32 blocks of a mesh take some 40 us, which is about how long a lent core may be kept.
inline constexpr std::uint64_t kBlocksInPart = 32;

class BlockParts {
 public:
  /// row_begin: rows + 1 offsets, as in CsrMatrix. team: outlives us.
  BlockParts(std::span<const std::uint64_t> row_begin, Team& team)
      : team_(&team),
        border_(partition_blocks(row_begin,
                                 static_cast<int>(team.pieces(block_count(row_begin.size() - 1), kBlocksInPart)))) {}

  /// Calls work(first_block, last_block) for every part that has blocks.
  template <class Work>
  void for_each(const Work& work) const noexcept {
    team_->share(border_.size() - 1, [&](std::uint64_t part, int) noexcept {
      if (border_[part] < border_[part + 1]) work(border_[part], border_[part + 1]);
    });
  }

 private:
  Team* team_;
  std::vector<std::uint64_t> border_;  // part p has the blocks [border_[p], border_[p + 1])
};

}  // namespace ringside
