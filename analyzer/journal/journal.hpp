// The journal: every record the analyzer has made, in order, in two logs beside the pool that are written in turn. The
// story is in docs/live.md, the bytes in docs/journal_format.md. It stores encoded records (proto/ringside.proto) and
// knows nothing of what is in them but their number.
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

/// A record as it is kept.
struct EncodedRecord {
  std::uint64_t seq = 0;
  std::string_view bytes;  // at most kMaxRecordBytes
};
inline constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 10;

/// The files a journal of `pool` consists of, beside the pool itself (a link is followed), and those that are there.
inline constexpr std::uint32_t kJournalLogs = 2;
std::string journal_file(const std::string& pool, std::uint32_t log);
std::vector<std::string> journal_files_there(const std::string& pool);

/// The writing side: one process (the one that owns the pool), one thread.
class Journal {
 public:
  /// Opens the journal of `pool`, or makes it; a torn tail is cut off, damage gets a line in the process's log. Throws
  /// Error: exit code 2 for files that are no journal of ours or another kind's, a kind that is not built in, kOff; 3
  /// in use, no space, no permission.
  static Journal open(const std::string& pool, const JournalOptions& options, Storage storage, Durability durability);
  ~Journal();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

  /// kPmemlog or kFile.
  JournalKind kind() const noexcept;
  /// 0: none is kept.
  std::uint64_t oldest_seq() const noexcept;
  std::uint64_t newest_seq() const noexcept;

  /// Appends records numbered newest_seq() + 1, + 2 ... When it returns 0 they survive the death of any process. Else
  /// an errno value: nothing more is appended from then on.
  int append(std::span<const EncodedRecord> records) noexcept;

  /// Waits until everything appended survives power loss, where `durability` asks for that. 0 or an errno value.
  int sync() noexcept;

 private:
  struct Implementation;
  explicit Journal(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// The reading side: any process, also while another one writes. A snapshot: what was whole when it was opened.
class JournalReader {
 public:
  /// Throws Error: exit code 2 if there is no journal beside `pool`.
  static JournalReader open(const std::string& pool);
  ~JournalReader();
  JournalReader(JournalReader&&) noexcept;
  JournalReader& operator=(JournalReader&&) noexcept;

  std::uint64_t oldest_seq() const noexcept;
  std::uint64_t newest_seq() const noexcept;

  /// kPmemlog or kFile, by the first log that is there.
  JournalKind kind() const noexcept;
  /// How many records there are to be read, and how many bytes the two logs' files take.
  std::uint64_t records() const noexcept;
  std::uint64_t file_bytes() const noexcept;

  /// The next record whose seq is at least `from`, in ascending order; nothing after the last one. The bytes are valid
  /// until the reader goes.
  std::optional<EncodedRecord> next(std::uint64_t from);
  /// `next` begins with the oldest record again.
  void rewind() noexcept;

  /// What of the logs could not be read, in one line for a user: "FILE: byte 4096: ..."; empty if nothing. Records
  /// behind damage that verify are read all the same. A tail that is torn because its writer is at work, or was killed,
  /// is no damage.
  const std::string& damage() const noexcept;

  /// Where such a tail begins, in one line for a user: "FILE: ends within a record at byte 4096: ..."; empty: nowhere.
  const std::string& torn() const noexcept;

 private:
  struct Implementation;
  explicit JournalReader(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringside
