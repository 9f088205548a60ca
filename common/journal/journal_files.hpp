// SPDX-License-Identifier: BSD-3-Clause
// What both sides of a journal share: its options, its files, its two logs, and a record as it is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// A record as the journal keeps it.
struct EncodedRecord {
  std::uint64_t seq = 0;
  std::string_view bytes;  // at most kMaxRecordBytes
};
inline constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 10;

/// The files of the journal of `pool`, beside the pool itself (a link is followed), and the files that exist.
inline constexpr std::uint32_t kJournalLogs = 2;
std::string journal_log_path(const std::string& pool, std::uint32_t log);
std::vector<std::string> journal_files_there(const std::string& pool);
/// The pool of a journal's file: "x.pool" for "x.pool.journal-1"; empty for any other name.
std::string pool_of_journal_file(const std::string& file);

/// The values of `--journal`: where the records are kept.
enum class JournalKind {
  kAuto,     // the kind of the existing logs; else kPmemlog if it is built in and the pool is on DAX; else kFile
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
