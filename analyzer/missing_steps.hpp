// Committed steps without a record: what a RecordsMissing says, as it is passed on within the analyzer.
#pragma once

#include <cstdint>

#include "common/hash.hpp"

namespace ringside {

/// Consecutive commits of one run. 0 in what is not known.
struct MissingSteps {
  Id128 run_id;
  std::uint64_t first_step = 0;        // of the first of them, within its attachment
  std::uint64_t steps = 0;             // how many
  std::uint64_t first_commit_seq = 0;  // of the first of them
  std::uint64_t first_iteration = 0;   // their iterations lie from here ...
  std::uint64_t last_iteration = 0;    // ... to here
};

}  // namespace ringside
