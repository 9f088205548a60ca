// SPDX-License-Identifier: BSD-3-Clause
// Where a run's records are kept: the values of `--journal`, shared by the options and the journal.
#pragma once

#include <cstdint>
#include <string_view>

namespace ringside {

enum class JournalKind {
  kAuto,     // the kind of the existing logs; else kPmemlog if it is built in and the pool lies on DAX; else kFile
  kPmemlog,  // libpmemlog
  kFile,     // plain files
  kOff
};

constexpr std::string_view to_string(JournalKind kind) noexcept {
  switch (kind) {
    case JournalKind::kPmemlog: return "pmemlog";
    case JournalKind::kFile: return "file";
    case JournalKind::kOff: return "off";
    default: return "auto";
  }
}

/// The analyzer's options for the journal.
struct JournalOptions {
  JournalKind kind = JournalKind::kAuto;
  std::uint64_t bytes = std::uint64_t{64} << 20;  // of both logs together: about 260,000 steps, at least half are kept
  bool foreign = false;                           // logs of another user may be written: RingOptions::foreign_pool
};

}  // namespace ringside
