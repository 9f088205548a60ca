// SPDX-License-Identifier: BSD-3-Clause
// Declarations for both the reader and the writer of a journal: its options, its files, its two logs, and a record as
// the journal stores it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// A record as the journal stores it.
struct EncodedRecord {
  std::uint64_t seq = 0;
  std::string_view bytes;  // at most kMaxRecordBytes long
};
inline constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 10;

/// The names of the files in which `pool` has its journal; they are beside the pool itself (links are resolved).
/// journal_files_there returns only the names of files that exist.
inline constexpr std::uint32_t kJournalLogs = 2;
std::string journal_log_path(const std::string& pool, std::uint32_t log);
std::vector<std::string> journal_files_there(const std::string& pool);
/// The pool to which a journal's file belongs: "x.pool" for "x.pool.journal-1"; empty for any other name.
std::string pool_of_journal_file(const std::string& file);

/// The values of `--journal`: how the records are stored.
enum class JournalKind {
  kAuto,     // the kind of the existing logs; if none: kPmemlog if built in and the pool is on DAX, otherwise kFile
  kPmemlog,  // in libpmemlog pools
  kFile,     // in plain files
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
  std::uint64_t bytes = std::uint64_t{64} << 20;  // of both logs: about 260,000 steps; at least half of them are kept
  bool foreign = false;                           // whether another user may own the logs (RingOptions::foreign_pool)
};

}  // namespace ringside
