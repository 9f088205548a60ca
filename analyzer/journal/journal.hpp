// SPDX-License-Identifier: BSD-3-Clause
// The journal: every record the analyzer has made, in order, in two logs beside the pool that are written in turn.
// docs/live.md describes its purpose, docs/journal_format.md its bytes. It stores encoded records
// (proto/ringside.proto) and depends only on their numbers, not on their content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ring/storage.hpp"
#include "common/options/durability.hpp"
#include "common/options/journal_options.hpp"

namespace ringside {

/// A record as the journal keeps it.
struct EncodedRecord {
  std::uint64_t seq = 0;
  std::string_view bytes;  // at most kMaxRecordBytes
};
inline constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 10;

/// The files of the journal of `pool`, beside the pool itself (a link is followed), and those of them that exist.
inline constexpr std::uint32_t kJournalLogs = 2;
std::string journal_log_path(const std::string& pool, std::uint32_t log);
std::vector<std::string> journal_files_there(const std::string& pool);

/// The writing side, for one thread of one process (the one that owns the pool).
class Journal {
 public:
  /// Opens the journal of `pool`, or creates it. Cuts off a torn tail, and logs a line about damage. Throws Error:
  /// exit code 2 for files that are no Ringside journal or one of another kind, for a kind that is not built in, and
  /// for kOff; 3 if it is in use, or there is no space or no permission.
  static Journal open(const std::string& pool, const JournalOptions& options, Storage storage, Durability durability);
  ~Journal();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

  /// kPmemlog or kFile.
  JournalKind kind() const noexcept;
  /// 0: the journal holds no record.
  std::uint64_t oldest_seq() const noexcept;
  std::uint64_t newest_seq() const noexcept;

  /// Number of the first record in the log that is written; 0: it has none.
  std::uint64_t first_seq_of_log() const noexcept;
  /// Bytes for which each log has room.
  std::uint64_t log_capacity_bytes() const noexcept;

  /// Appends records numbered newest_seq() + 1, + 2 ... If it returns 0, they survive the death of any process.
  /// Otherwise it returns an errno value, and nothing more is appended from then on.
  int append(std::span<const EncodedRecord> records) noexcept;

  /// Waits until everything appended survives power loss, if `durability` asks for that. Returns 0 or an errno value.
  int sync() noexcept;

 private:
  struct Implementation;
  explicit Journal(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// The reading side, for any process, also while another one writes. It is a snapshot of the records that were
/// complete when it was opened.
class JournalReader {
 public:
  /// Throws Error: exit code 2 if there is no journal beside `pool`.
  static JournalReader open(const std::string& pool);
  ~JournalReader();
  JournalReader(JournalReader&&) noexcept;
  JournalReader& operator=(JournalReader&&) noexcept;

  std::uint64_t oldest_seq() const noexcept;
  std::uint64_t newest_seq() const noexcept;

  /// kPmemlog or kFile, as the first existing log is.
  JournalKind kind() const noexcept;
  /// Number of readable records, and bytes of both logs' files.
  std::uint64_t records() const noexcept;
  std::uint64_t file_bytes() const noexcept;

  /// The next record whose seq is at least `from`, in ascending order; nothing after the last one. The bytes are valid
  /// as long as the reader lives.
  std::optional<EncodedRecord> next(std::uint64_t from);
  /// `next` begins with the oldest record again.
  void rewind() noexcept;

  /// The unreadable parts of the logs, in one line for a user: "FILE: byte 4096: ..."; empty: none. Records behind
  /// damage are still read if they verify. A torn tail whose writer is at work, or was killed, is not damage.
  const std::string& damage() const noexcept;

  /// Where such a tail begins, in one line for a user: "FILE: ends within a record at byte 4096: ..."; empty: there is
  /// none.
  const std::string& torn() const noexcept;

 private:
  struct Implementation;
  explicit JournalReader(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringside
