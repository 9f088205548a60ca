// SPDX-License-Identifier: BSD-3-Clause
// Interprets a log's bytes. The bytes are not trusted: every length is checked before it is used, and only records that
// verify are returned. Both sides of the journal use this scan, so that their results agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/journal/journal_layout.hpp"

namespace ringside {

/// The search for records ends after this many places that look like a record but do not verify, so that forged bytes
/// cannot keep a reader busy indefinitely.
inline constexpr int kMaxFalseFrames = 1000;

enum class LogState {
  kEmpty,    // no bytes, or a torn header: its writer was killed after emptying the log
  kValid,    // the header verifies
  kDamaged,  // the header does not verify, or belongs to the other log
  kForeign,  // the file is not a log
  kNewer     // the log has another version of the format
};

struct ScannedRecord {
  std::uint64_t seq = 0;
  std::uint64_t offset = 0;  // the beginning of the record's payload in the log's bytes
  std::uint32_t bytes = 0;
};

struct LogScan {
  LogState state = LogState::kEmpty;
  JournalHeader header;                // if state is kValid
  std::vector<ScannedRecord> records;  // by ascending seq
  std::uint64_t last_seq = 0;          // if state is kValid: the seq of the last record, at first first_seq - 1
  std::uint64_t end = 0;               // where the last record that verifies ends, or the header if there is none
  std::string damage;  // one line that gives the place in the file; empty: no damage. A torn tail does not count
  std::optional<std::uint64_t> torn_at;  // the place in the file of a record or header that the file's end cuts off

  std::uint64_t oldest_seq() const noexcept { return records.empty() ? 0 : records.front().seq; }
  std::uint64_t newest_seq() const noexcept { return records.empty() ? 0 : records.back().seq; }
};

/// log: the log's number in the name of its file. file_offset: the offset of bytes[0] in the file, for messages.
LogScan scan_log(std::span<const std::byte> bytes, std::uint32_t log, std::uint64_t file_offset);

/// Continues a scan at scan.end: `records`, torn_at and damage then describe the appended bytes. Requires that the
/// state is kValid and that the log still has the same header. appended: the log's bytes from scan.end on.
void continue_scan(LogScan& scan, std::span<const std::byte> appended, std::uint64_t file_offset);

}  // namespace ringside
