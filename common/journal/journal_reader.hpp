// SPDX-License-Identifier: BSD-3-Clause
// The journal's reading side (docs/formats/journal_format.md): every record that the analyzer has made, in order. It
// returns encoded records and does not look into them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "common/journal/journal_files.hpp"
#include "common/journal/journal_kind.hpp"
#include "common/journal/journal_layout.hpp"
#include "common/journal/journal_log_copy.hpp"
#include "common/journal/journal_scan.hpp"

namespace ringside {

/// The beginning of a log, to detect that it was emptied since.
struct LogBeginning {
  bool there = false;
  JournalHeader header;

  explicit LogBeginning(const std::optional<LogCopy>& file) {
    if (!file || file->copied_bytes < sizeof(header)) return;
    there = true;
    std::memcpy(&header, file->copied.get(), sizeof(header));
  }
  std::uint64_t generation() const noexcept { return there ? header.generation : 0; }
  bool operator==(const LogBeginning& other) const noexcept {
    return there == other.there && std::memcmp(&header, &other.header, sizeof(header)) == 0;
  }
};

/// The reading side, for any process, also while another one writes. It has the records that were complete when it was
/// opened, or refreshed last.
class JournalReader {
 public:
  /// Throws Error: exit code 2 if there is no journal beside `pool`.
  static JournalReader open(const std::string& pool);

  std::uint64_t oldest_seq() const noexcept { return records_.empty() ? 0 : records_.front().seq; }
  std::uint64_t newest_seq() const noexcept { return newest_; }

  /// kPmemlog or kFile, as the first existing log is.
  JournalKind kind() const noexcept { return kind_; }
  /// Number of readable records, and bytes of both logs' files.
  std::uint64_t records() const noexcept { return records_.size(); }
  std::uint64_t file_bytes() const noexcept { return logs_[0].file_bytes + logs_[1].file_bytes; }

  /// Takes in what was appended since; true if anything came. Reads only that, unless a log was emptied, or there is
  /// damage: then both logs are read anew, and `next` begins with the oldest record again. Throws as open.
  bool refresh();

  /// The next record whose seq is at least `from`, in ascending order; nothing after the last one. The bytes are valid
  /// until the next refresh or forget, or the reader's end.
  std::optional<EncodedRecord> next(std::uint64_t from);
  /// `next` begins with the oldest record again.
  void rewind() noexcept { next_ = 0; }
  /// Frees all records, for a follower that does not need them again.
  void forget() noexcept;

  /// The unreadable parts of the logs, in one line for a user: "FILE: byte 4096: ..."; empty: none. Records behind
  /// damage are still read if they verify. A torn tail whose writer is at work, or was killed, is not damage.
  const std::string& damage() const noexcept { return damage_; }

  /// Where such a tail begins, in one line for a user: "FILE: ends within a record at byte 4096: ..."; empty: there is
  /// none.
  const std::string& torn() const noexcept { return torn_; }

 private:
  /// The state of a log, so that reading can continue behind it.
  struct Log {
    std::string path;
    LogBeginning beginning{std::nullopt};
    LogScan scan;
    std::uint64_t file_bytes = 0;
    std::uint64_t end = 0;  // of the log's bytes in the file
  };

  JournalReader() = default;
  void report(const std::string& file, const std::string& text);
  void read();
  void check_first_record(const Log& log);
  void take(const Log& log, LogCopy copy);
  void describe_torn();
  std::optional<bool> read_appended();

  std::string pool_;
  JournalKind kind_ = JournalKind::kFile;
  std::array<Log, kJournalLogs> logs_;
  std::vector<LogCopy> copies_;         // the bytes of the records
  std::vector<EncodedRecord> records_;  // ascending
  std::uint64_t newest_ = 0;
  std::size_t next_ = 0;
  std::string damage_;
  std::string torn_;
};

}  // namespace ringside
