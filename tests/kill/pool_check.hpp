// SPDX-License-Identifier: BSD-3-Clause
// What must hold for a pool whose processes were killed: the invariants of the design.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/pool_reader/ring_reader.hpp"
#include "tests/kill/journal_check.hpp"

namespace ringside::testing {

/// True if `x` (rows doubles) is iteration k's iterate, bit for bit.
using IsIterate = std::function<bool(std::uint64_t k, const double* x, std::uint64_t rows)>;

struct PoolCheck {
  std::vector<std::string> violations;  // empty: nothing is wrong
  std::uint64_t newest = 0;             // the newest iteration; 0: there is none
  std::uint64_t iterates_checked = 0;
};

/// Checks a pool that no process writes: every iterate in it is equal to the solver's, the newest iterate is not older
/// than `acknowledged`, the iterates are contiguous, and at most one slot of a ring that was once full holds no
/// iterate. A pool that is unfinished or missing holds nothing.
PoolCheck check_pool_at_rest(const std::string& path, std::uint64_t acknowledged, const IsIterate& is_iterate,
                             const Published& published = {});

}  // namespace ringside::testing
