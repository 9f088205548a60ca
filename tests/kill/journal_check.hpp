// SPDX-License-Identifier: BSD-3-Clause
// What must hold for the journal of a run whose processes were killed: each commit has a record or is named as missing,
// the records equal those that were received live, and they agree with the steps that the ring still keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kill/survivors.hpp"

namespace ringside::testing {

/// How the run publishes.
struct Published {
  std::uint64_t every = 1;  // --every
  bool skips = false;       // --when-full skip
};

/// The next iteration after this one that is published with `--every every`.
inline std::uint64_t next_due(std::uint64_t iteration, std::uint64_t every) {
  return (iteration / every + 1) * every;
}

struct JournalCheck {
  std::vector<std::string> violations;  // empty: nothing is wrong
  std::uint64_t records_compared = 0;   // with the ring and with the records received live
  std::uint64_t steps_recorded = 0;
  std::uint64_t gaps_named = 0;
  std::uint64_t steps_named = 0;   // steps named as missing
  std::uint64_t unnamed_gaps = 0;  // steps with neither a record nor a RecordsMissing
};

/// Call while no process writes to the pool. complete: the last life ended cleanly and kept a journal, so that the
/// journal reaches the ring's newest commit. seen: the records that were received live while this journal was kept.
JournalCheck check_journal_at_rest(const std::string& pool, const Published& published, bool complete,
                                   const Follower::Seen& seen);

}  // namespace ringside::testing
