// SPDX-License-Identifier: BSD-3-Clause
// Committed steps without a record: the content of a RecordsMissing, in the form used between the analyzer's parts.
#pragma once

#include <cstdint>

#include "common/kernels/hash.hpp"

namespace ringside {

/// Consecutive commits of one run. Unknown fields are 0.
struct MissingSteps {
  Id128 run_id;
  std::uint64_t first_step = 0;        // of the first commit, within its attachment
  std::uint64_t steps = 0;             // number of commits
  std::uint64_t first_commit_seq = 0;  // of the first commit
  std::uint64_t first_iteration = 0;   // lower bound of their iterations
  std::uint64_t last_iteration = 0;    // upper bound of their iterations
};

}  // namespace ringside
