// What is kept of a run's records, and how: the words of `--journal`, shared by the options and the journal.
#pragma once

#include <cstdint>
#include <string_view>

namespace ringside {

enum class JournalKind {
  kAuto,  // what the logs are that are there; else kPmemlog where it was built in and the pool lies on DAX, else kFile
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

/// Where the records of the steps are kept: the analyzer's.
struct JournalOptions {
  JournalKind kind = JournalKind::kAuto;
  std::uint64_t bytes = std::uint64_t{64} << 20;  // of both logs together: about 260,000 steps, at least half are kept
  bool foreign = false;                           // logs of another user may be written: RingOptions::foreign_pool
};

}  // namespace ringside
