// SPDX-License-Identifier: BSD-3-Clause
// The storage of one log of the journal: bytes that grow at their end and are emptied as a whole. There are two kinds:
// a plain file, and libpmemlog where the build found it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "analyzer/pool/foreign_file.hpp"
#include "common/files/regular_file.hpp"
#include "common/journal/journal_files.hpp"
#include "common/ring/storage.hpp"

namespace ringside {

/// A lock limits a log to one owner at a time. One thread appends and clears; another may sync.
class JournalStorage {
 public:
  virtual ~JournalStorage() = default;

  virtual std::uint64_t used_bytes() const noexcept = 0;
  /// Total capacity in bytes, including used_bytes().
  virtual std::uint64_t capacity_bytes() const noexcept = 0;

  /// Appends all of `bytes` or nothing. If it returns 0, the bytes survive the death of any process; otherwise it
  /// returns an errno value.
  virtual int append(std::span<const std::byte> bytes) noexcept = 0;
  virtual int clear() noexcept = 0;
  /// Removes all bytes after the first `bytes`, if the storage can. If the storage cannot do this, later appends begin
  /// after the last byte, at the next multiple of kFrameAlignment.
  virtual int cut(std::uint64_t bytes) noexcept = 0;
  /// When this returns 0, everything that was appended before the call survives power loss.
  virtual int sync() noexcept = 0;
};

/// Opens a log's file for open_file_log and open_pmemlog_log, and throws Error as they do. create: whether to make the
/// file if it does not exist.
RegularFile open_log_for_writing(const std::string& path, bool create, Foreign foreign);
/// Makes sure that only its owner may read a log.
void keep_private(const RegularFile& log, const std::string& path);

/// These functions open the log at `path`, or make it. capacity: for a new log. They throw Error: exit code 2 for a
/// file of another kind; 3 if the log is in use, belongs to another user or may not be written, or if there is no room.
std::unique_ptr<JournalStorage> open_file_log(const std::string& path, std::uint64_t capacity, Foreign foreign);
std::unique_ptr<JournalStorage> open_pmemlog_log(const std::string& path, std::uint64_t capacity, Storage storage,
                                                 Foreign foreign);

/// Whether this build has libpmemlog; without it open_pmemlog_log throws (exit code 2).
bool has_pmemlog() noexcept;

}  // namespace ringside
