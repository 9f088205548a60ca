// SPDX-License-Identifier: BSD-3-Clause
// The analyzer's options for the journal, shared by the options and the journal.
#pragma once

#include <cstdint>

#include "common/journal/journal_kind.hpp"

namespace ringside {

/// The analyzer's options for the journal.
struct JournalOptions {
  JournalKind kind = JournalKind::kAuto;
  std::uint64_t bytes = std::uint64_t{64} << 20;  // of both logs together: about 260,000 steps, at least half are kept
  bool foreign = false;                           // logs of another user may be written: RingOptions::foreign_pool
};

}  // namespace ringside
