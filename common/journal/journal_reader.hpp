// SPDX-License-Identifier: BSD-3-Clause
// The journal's reading side (docs/formats/files.md): every record that the analyzer has made, in order. The reader
// returns encoded records and does not decode them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/journal/journal_files.hpp"

namespace ringside {

/// Reads a journal in any process, even while another process writes it. The reader has the records that were complete
/// when it was opened or last refreshed.
class JournalReader {
 public:
  /// Throws Error: exit code 2 if there is no journal beside `pool`.
  static JournalReader open(const std::string& pool);
  ~JournalReader();
  JournalReader(JournalReader&&) noexcept;
  JournalReader& operator=(JournalReader&&) noexcept;

  std::uint64_t oldest_seq() const noexcept;
  std::uint64_t newest_seq() const noexcept;

  /// The kind of the first existing log: kPmemlog or kFile.
  JournalKind kind() const noexcept;
  /// The number of readable records, and the size of both logs' files in bytes.
  std::uint64_t records() const noexcept;
  std::uint64_t file_bytes() const noexcept;

  /// Reads the records that were appended meanwhile, and returns whether there were any. If a log was emptied or is
  /// damaged, both logs are read anew, and `next` begins with the oldest record again. Throws the errors of `open`.
  bool refresh();

  /// The next record whose seq is at least `from`, in ascending order; nothing after the last one. The bytes are valid
  /// until the next call of refresh or forget, and not longer than the reader exists.
  std::optional<EncodedRecord> next(std::uint64_t from);
  /// Lets `next` begin with the oldest record again.
  void rewind() noexcept;
  /// Frees all records, for a follower that does not need them again.
  void forget() noexcept;

  /// The unreadable parts of the logs, in one line for a user: "FILE: byte 4096: ..."; empty: none. Records after
  /// damage are still read if they verify. A torn tail is not damage: the log's writer is still writing, or was killed.
  const std::string& damage() const noexcept;

  /// Where a torn tail begins, in one line for a user: "FILE: ends within a record at byte 4096: ..."; empty: none.
  const std::string& torn() const noexcept;

 private:
  struct Implementation;
  explicit JournalReader(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringside
