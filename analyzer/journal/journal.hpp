// SPDX-License-Identifier: BSD-3-Clause
// The journal: every record of the analyzer, in order. The records are in two logs beside the pool, which are written
// in turn. docs/use/live.md describes the journal's purpose, docs/formats/files.md its bytes. The journal stores
// encoded records (proto/ringside.proto) and depends only on the records' numbers, not on their content.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/journal/journal_files.hpp"
#include "common/ring/storage.hpp"

namespace ringside {

/// The writing side. Only one thread of one process (the process that owns the pool) uses it.
class Journal {
 public:
  /// Opens the journal of `pool`, or creates it. Removes an incomplete end of the journal, and logs a line about
  /// damage. Throws Error: exit code 2 for kOff, for a kind that is not built in, and if the files are a journal of
  /// another kind or no Ringside journal; 3 if the journal is in use, or if space or permission is missing.
  static Journal open(const std::string& pool, const JournalOptions& options, Storage storage, Durability durability);
  ~Journal();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

  /// kPmemlog or kFile.
  JournalKind kind() const noexcept;
  /// 0 if the journal holds no record.
  std::uint64_t oldest_seq() const noexcept;
  std::uint64_t newest_seq() const noexcept;

  /// Number of the first record in the log that is being written; 0 if this log has no record.
  std::uint64_t first_seq_of_log() const noexcept;
  /// Capacity of each log in bytes.
  std::uint64_t log_capacity_bytes() const noexcept;

  /// Appends records numbered newest_seq() + 1, + 2 ... If it returns 0, these records survive the death of any
  /// process. Otherwise it returns an errno value, and nothing more is appended from then on.
  int append(std::span<const EncodedRecord> records) noexcept;

  /// Waits until everything appended survives power loss, if `durability` requires that. Returns 0 or an errno value.
  int sync() noexcept;

 private:
  struct Implementation;
  explicit Journal(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringside
