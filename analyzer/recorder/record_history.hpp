// SPDX-License-Identifier: BSD-3-Clause
// Encoded records: the records that will be written next and, on request, past records. The newest past records come
// from memory; older ones come from the journal's files, which this process reads like any other process. The files are
// read once for all requests, until a request is for a newer record that is no longer in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/journal/journal_reader.hpp"

namespace ringside::wire {
class Record;
}  // namespace ringside::wire

namespace ringside {

/// Appends `record`, encoded, to an encoded message whose field 1 is `repeated Record`.
void append_record_field(std::string& message, std::string_view record);

/// A batch of numbered and encoded records for the journal and the subscribers. Keeps its memory when it is cleared.
class RecordBatch {
 public:
  /// Both functions return false, and do not add the record, if it exceeds a record's limit (kMaxRecordBytes).
  bool add(const wire::Record& record);
  bool add(const EncodedRecord& record);
  bool empty() const noexcept { return places_.empty(); }
  std::size_t size() const noexcept { return places_.size(); }
  std::size_t bytes() const noexcept { return message_.size(); }
  /// Valid until the next call that changes the batch.
  std::span<const EncodedRecord> records();
  /// The records of the batch as an encoded message whose field 1 is `repeated Record`; the caller may append other
  /// fields.
  std::string& message() noexcept { return message_; }
  void clear() noexcept;

 private:
  struct Place {
    std::uint64_t seq = 0;
    std::size_t begin = 0;  // the place in message_
    std::size_t bytes = 0;
  };
  std::string message_;
  std::vector<Place> places_;
  std::vector<EncodedRecord> records_;
};

/// Used only by the recorder's thread.
class RecordHistory {
 public:
  /// The number of records in memory: 16,384, about 6 MB in a run with one variable; fewer if these records exceed 64
  /// MiB.
  static constexpr std::size_t kInMemory = 16384;
  static constexpr std::size_t kBytesInMemory = std::size_t{64} << 20;

  /// pool: the pool whose journal is read; if empty, only memory is used.
  explicit RecordHistory(std::string pool) : pool_(std::move(pool)) {}

  /// Keeps a record in memory. seq: the number after that of the last kept record; with any other number, all records
  /// kept before are discarded.
  void keep(std::uint64_t seq, std::string_view record);

  /// Numbers of the oldest and the newest record; 0: there are none. Reads the journal's files, unless the records in
  /// memory are sufficient.
  std::uint64_t oldest_seq();
  std::uint64_t newest_seq();

  /// Appends consecutive records from `from` on, each as append_record_field does: up to `at_most` records and about
  /// `bytes` bytes.
  void append(std::uint64_t from, std::size_t at_most, std::size_t bytes, std::string& message);

  /// Both functions free the memory into which the files were read. The first does so only if that memory was not used
  /// for a long time; the second does so at once, because the files may have been replaced.
  void forget_files_if_unused();
  void forget_files() { files_.reset(); }

 private:
  struct Files {
    JournalReader reader;
    std::vector<EncodedRecord> records;  // in ascending order; they refer to the reader's memory
  };
  const Files* files();
  const Files* files_with(std::uint64_t seq);
  bool just_read() const noexcept;

  std::string pool_;
  std::deque<std::string> memory_;
  std::uint64_t first_in_memory_ = 1;
  std::size_t bytes_in_memory_ = 0;
  std::optional<Files> files_;
  std::int64_t used_ns_ = 0;
  std::int64_t read_ns_ = 0;
};

}  // namespace ringside
