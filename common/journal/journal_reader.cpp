// SPDX-License-Identifier: BSD-3-Clause
// The journal's reading side: copies and checks both logs and puts their records in order.
#include "common/journal/journal_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "common/journal/journal_log_copy.hpp"
#include "common/journal/journal_scan.hpp"
#include "common/platform/error.hpp"
#include "common/text/formatted.hpp"

namespace ringside {
namespace {

// The number of attempts to read both logs while a writer empties them. Even a second attempt is rare, because a writer
// appends tens of thousands of records before it empties a log again.
constexpr int kAttempts = 20;

using Logs = std::array<std::optional<LogCopy>, kJournalLogs>;

/// The beginning of a log, to detect that the log was emptied.
struct Beginning {
  bool there = false;
  JournalHeader header;

  explicit Beginning(const std::optional<LogCopy>& file) {
    if (!file || file->copied_bytes < sizeof(header)) return;
    there = true;
    std::memcpy(&header, file->copied.get(), sizeof(header));
  }
  std::uint64_t generation() const noexcept { return there ? header.generation : 0; }
  bool operator==(const Beginning& other) const noexcept {
    return there == other.there && std::memcmp(&header, &other.header, sizeof(header)) == 0;
  }
};

Beginning peek(const std::string& path) {
  return Beginning(copy_log(path, 0, sizeof(JournalHeader)));
}

/// Reads both logs so that they fit together. The older log is read first, so that the newer log can only have grown
/// meanwhile. If either log was emptied meanwhile, both are read again: the emptied log is now the newer one, and the
/// other log may also have been emptied before it was read.
Logs read_logs(const std::string& pool) {
  Logs logs;
  const std::array<std::string, kJournalLogs> paths = {journal_log_path(pool, 0), journal_log_path(pool, 1)};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::array<Beginning, kJournalLogs> before = {peek(paths[0]), peek(paths[1])};
    const std::size_t older = before[0].generation() <= before[1].generation() ? 0 : 1;
    for (const std::size_t log : {older, 1 - older}) logs[log] = copy_log(paths[log]);
    const auto is_as_before = [&](std::size_t log) {
      return Beginning(logs[log]) == before[log] && peek(paths[log]) == before[log];
    };
    if (is_as_before(0) && is_as_before(1)) break;
  }
  return logs;
}

}  // namespace

struct JournalReader::Implementation {
  /// The state of a log, from which reading can continue.
  struct Log {
    std::string path;
    Beginning beginning{std::nullopt};
    LogScan scan;
    std::uint64_t file_bytes = 0;
    std::uint64_t end = 0;  // the end of the log's bytes in the file
  };

  std::string pool;
  JournalKind kind = JournalKind::kFile;
  std::array<Log, kJournalLogs> logs;
  std::vector<LogCopy> copies;         // the bytes of the records
  std::vector<EncodedRecord> records;  // by ascending seq
  std::uint64_t newest = 0;
  std::size_t next = 0;
  std::string damage;
  std::string torn;

  void report(const std::string& file, const std::string& text) {
    damage += formatted("{}{}: {}", damage.empty() ? "" : "; ", file, text);
  }
  void read();
  void check_first_record(const Log& log);
  void take(const Log& log, LogCopy copy);
  void describe_torn();
  std::optional<bool> read_appended();
};

void JournalReader::Implementation::check_first_record(const Log& log) {
  if (newest == 0 || log.scan.records.empty() || log.scan.header.first_seq <= newest + 1) return;
  report(log.path,
         formatted("begins with record {}, but the previous log ends with record {}: the records between them are lost",
                   log.scan.header.first_seq, newest));
}

/// Adds the records that the scan found in `copy`.
void JournalReader::Implementation::take(const Log& log, LogCopy copy) {
  const std::uint64_t last = newest;
  for (const ScannedRecord& record : log.scan.records) {
    if (record.seq <= last) continue;  // a seq that was reused after a power cut: the first record is kept
    const void* payload = copy.copied.get() + (record.offset - copy.from);
    records.push_back({record.seq, {static_cast<const char*>(payload), record.bytes}});
    newest = record.seq;
  }
  copies.push_back(std::move(copy));
}

void JournalReader::Implementation::describe_torn() {
  torn.clear();
  for (const Log& log : logs) {
    if (!log.scan.torn_at) continue;
    torn += formatted("{}{}: ends within a record at byte {}: its writer is still writing it, or was killed",
                      torn.empty() ? "" : "; ", log.path, *log.scan.torn_at);
  }
}

/// Reads both logs completely.
void JournalReader::Implementation::read() {
  Logs read = read_logs(pool);
  if (!read[0] && !read[1]) {
    throw usage_error("{}: the pool has no journal beside it; expected {} and {}", pool, journal_log_path(pool, 0),
                      journal_log_path(pool, 1));
  }
  bool any_is_ours = false;
  for (std::uint32_t number = kJournalLogs; number-- > 0;) {
    Log& log = logs[number];
    log.path = journal_log_path(pool, number);
    log.beginning = Beginning(read[number]);
    if (!read[number]) continue;
    const LogCopy& copy = *read[number];
    log.scan = scan_log(copy.bytes(), number, copy.place.begin);
    if (copy.place.kind == JournalKind::kPmemlog && copy.place.end == 0) {
      log.scan.damage = "byte 4096: found offsets that no log can have";
    }
    any_is_ours = any_is_ours || log.scan.state == LogState::kValid || log.scan.state == LogState::kDamaged;
    kind = copy.place.kind;
    log.file_bytes = copy.file_bytes;
    log.end = copy.place.end;
  }
  for (const Log& log : logs) {
    if (log.scan.damage.empty()) continue;
    const bool refused = log.scan.state == LogState::kForeign || log.scan.state == LogState::kNewer;
    if (refused && !any_is_ours) throw usage_error("{}: {}", log.path, log.scan.damage);
    report(log.path, log.scan.damage);
  }
  const std::size_t older = logs[0].scan.header.generation <= logs[1].scan.header.generation ? 0 : 1;
  for (const std::size_t number : {older, 1 - older}) {
    if (logs[number].scan.state != LogState::kValid) continue;
    check_first_record(logs[number]);
    take(logs[number], std::move(*read[number]));
  }
  describe_torn();
}

/// Reads the bytes that were appended to the logs. Returns whether there were any; nothing if both logs must be read
/// anew.
std::optional<bool> JournalReader::Implementation::read_appended() {
  Logs appended;
  for (std::size_t number = 0; number < kJournalLogs; ++number) {
    const Log& log = logs[number];
    if (log.scan.state == LogState::kValid) appended[number] = copy_log(log.path, log.scan.end);
  }
  // An emptied log never gets its former header again. If the header is unchanged, the new bytes continue the log that
  // was read before.
  for (const Log& log : logs) {
    if (!(peek(log.path) == log.beginning)) return std::nullopt;
  }
  bool any = false;
  const std::size_t older = logs[0].scan.header.generation <= logs[1].scan.header.generation ? 0 : 1;
  for (const std::size_t number : {older, 1 - older}) {
    Log& log = logs[number];
    if (!appended[number]) continue;
    LogCopy& copy = *appended[number];
    if (!log.scan.damage.empty()) {  // further bytes would change the description of the damage
      if (copy.place.end != log.end) return std::nullopt;
      continue;
    }
    continue_scan(log.scan, copy.bytes(), copy.place.begin);
    if (!log.scan.damage.empty()) return std::nullopt;
    log.file_bytes = copy.file_bytes;
    log.end = copy.place.end;
    if (log.scan.records.empty()) continue;
    take(log, std::move(copy));
    any = true;
  }
  describe_torn();
  return any;
}

JournalReader JournalReader::open(const std::string& pool) {
  auto made = std::make_unique<Implementation>();
  made->pool = pool;
  made->read();
  return JournalReader(std::move(made));
}

bool JournalReader::refresh() {
  if (const std::optional<bool> any = implementation_->read_appended()) return *any;
  *this = open(implementation_->pool);
  return true;
}

void JournalReader::forget() noexcept {
  implementation_->records.clear();
  implementation_->copies.clear();
  implementation_->next = 0;
}

JournalReader::JournalReader(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
JournalReader::~JournalReader() = default;
JournalReader::JournalReader(JournalReader&&) noexcept = default;
JournalReader& JournalReader::operator=(JournalReader&&) noexcept = default;

std::uint64_t JournalReader::oldest_seq() const noexcept {
  return implementation_->records.empty() ? 0 : implementation_->records.front().seq;
}

std::uint64_t JournalReader::newest_seq() const noexcept {
  return implementation_->newest;
}

const std::string& JournalReader::torn() const noexcept {
  return implementation_->torn;
}

JournalKind JournalReader::kind() const noexcept {
  return implementation_->kind;
}

std::uint64_t JournalReader::records() const noexcept {
  return implementation_->records.size();
}

std::uint64_t JournalReader::file_bytes() const noexcept {
  return implementation_->logs[0].file_bytes + implementation_->logs[1].file_bytes;
}

std::optional<EncodedRecord> JournalReader::next(std::uint64_t from) {
  const std::vector<EncodedRecord>& records = implementation_->records;
  std::size_t& next = implementation_->next;
  if (next < records.size() && records[next].seq < from) {
    const auto begin = records.begin() + static_cast<std::ptrdiff_t>(next);
    const auto found = std::ranges::lower_bound(begin, records.end(), from, {}, &EncodedRecord::seq);
    next = static_cast<std::size_t>(found - records.begin());
  }
  return next == records.size() ? std::nullopt : std::optional(records[next++]);
}

void JournalReader::rewind() noexcept {
  implementation_->next = 0;
}

const std::string& JournalReader::damage() const noexcept {
  return implementation_->damage;
}

}  // namespace ringside
