// SPDX-License-Identifier: BSD-3-Clause
// The blocks of a matrix's part in two sets: those that read no ghost (producer/matrix/matrix_part.hpp) can be
// multiplied before the ghosts have come from other processes. A whole matrix has only these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/threads/team.hpp"
#include "producer/kernels/block_parts.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// Numbers of blocks, ascending. `interior` and `at_border` together are all blocks.
struct BlockSets {
  std::vector<std::uint64_t> interior;
  std::vector<std::uint64_t> at_border;  // with a row that reads a ghost
  std::vector<std::uint64_t> read;       // blocks of own rows that are at the border, or read from there
};

/// part: with numbered ghosts, and its entries.
BlockSets find_block_sets(const CsrMatrix& part);

struct ProductParts {
  ProductParts(const BlockSets& sets, std::span<const std::uint64_t> work_before, Team& team)
      : interior(BlockParts::of_some(sets.interior, work_before, team)),
        at_border(BlockParts::of_some(sets.at_border, work_before, team)) {}

  BlockParts interior;
  BlockParts at_border;
};

}  // namespace ringside
