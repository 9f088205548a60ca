// SPDX-License-Identifier: BSD-3-Clause
// The journal's reading side: it copies and checks both logs and puts their records in order.
#include "common/journal/journal_reader.hpp"

#include <algorithm>

#include "common/platform/error.hpp"
#include "common/text/formatted.hpp"

namespace ringside {
namespace {

// A writer appends tens of thousands of records before it empties a log again, so even a second attempt is rare.
constexpr int kAttempts = 20;

using Logs = std::array<std::optional<LogCopy>, kJournalLogs>;

LogBeginning peek(const std::string& path) {
  return LogBeginning(copy_log(path, 0, sizeof(JournalHeader)));
}

/// Reads both logs so that they fit together. The older one is read first, so that the newer one can only have grown
/// meanwhile. If either was emptied meanwhile, both are read again: the emptied log is now the newer one, and the other
/// one may be emptied, too, before it is read.
Logs read_logs(const std::string& pool) {
  Logs logs;
  const std::array<std::string, kJournalLogs> paths = {journal_log_path(pool, 0), journal_log_path(pool, 1)};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::array<LogBeginning, kJournalLogs> before = {peek(paths[0]), peek(paths[1])};
    const std::size_t older = before[0].generation() <= before[1].generation() ? 0 : 1;
    for (const std::size_t log : {older, 1 - older}) logs[log] = copy_log(paths[log]);
    const auto is_as_before = [&](std::size_t log) {
      return LogBeginning(logs[log]) == before[log] && peek(paths[log]) == before[log];
    };
    if (is_as_before(0) && is_as_before(1)) break;
  }
  return logs;
}

}  // namespace

void JournalReader::report(const std::string& file, const std::string& text) {
  damage_ += formatted("{}{}: {}", damage_.empty() ? "" : "; ", file, text);
}

void JournalReader::check_first_record(const Log& log) {
  if (newest_ == 0 || log.scan.records.empty() || log.scan.header.first_seq <= newest_ + 1) return;
  report(log.path, formatted("begins with record {}, the log before it ends with record {}: what was between is lost",
                             log.scan.header.first_seq, newest_));
}

/// Takes the records that were scanned in `copy`.
void JournalReader::take(const Log& log, LogCopy copy) {
  const std::uint64_t last = newest_;
  for (const ScannedRecord& record : log.scan.records) {
    if (record.seq <= last) continue;  // used again after a power cut: the first record is kept
    const void* payload = copy.copied.get() + (record.offset - copy.from);
    records_.push_back({record.seq, {static_cast<const char*>(payload), record.bytes}});
    newest_ = record.seq;
  }
  copies_.push_back(std::move(copy));
}

void JournalReader::describe_torn() {
  torn_.clear();
  for (const Log& log : logs_) {
    if (!log.scan.torn_at) continue;
    torn_ += formatted("{}{}: ends within a record at byte {}: its writer is at work, or was killed",
                       torn_.empty() ? "" : "; ", log.path, *log.scan.torn_at);
  }
}

/// Reads both logs whole.
void JournalReader::read() {
  Logs read = read_logs(pool_);
  if (!read[0] && !read[1]) {
    throw usage_error("{}: no journal beside it; expected {} and {}", pool_, journal_log_path(pool_, 0),
                      journal_log_path(pool_, 1));
  }
  bool any_is_ours = false;
  for (std::uint32_t number = kJournalLogs; number-- > 0;) {
    Log& log = logs_[number];
    log.path = journal_log_path(pool_, number);
    log.beginning = LogBeginning(read[number]);
    if (!read[number]) continue;
    const LogCopy& copy = *read[number];
    log.scan = scan_log(copy.bytes(), number, copy.place.begin);
    if (copy.place.kind == JournalKind::kPmemlog && copy.place.end == 0) {
      log.scan.damage = "byte 4096: offsets that point out of the file";
    }
    any_is_ours = any_is_ours || log.scan.state == LogState::kValid || log.scan.state == LogState::kDamaged;
    kind_ = copy.place.kind;
    log.file_bytes = copy.file_bytes;
    log.end = copy.place.end;
  }
  for (const Log& log : logs_) {
    if (log.scan.damage.empty()) continue;
    const bool refused = log.scan.state == LogState::kForeign || log.scan.state == LogState::kNewer;
    if (refused && !any_is_ours) throw usage_error("{}: {}", log.path, log.scan.damage);
    report(log.path, log.scan.damage);
  }
  const std::size_t older = logs_[0].scan.header.generation <= logs_[1].scan.header.generation ? 0 : 1;
  for (const std::size_t number : {older, 1 - older}) {
    if (logs_[number].scan.state != LogState::kValid) continue;
    check_first_record(logs_[number]);
    take(logs_[number], std::move(*read[number]));
  }
  describe_torn();
}

/// Reads what was appended to the logs. True if anything was; nothing if both must be read anew.
std::optional<bool> JournalReader::read_appended() {
  Logs appended;
  for (std::size_t number = 0; number < kJournalLogs; ++number) {
    const Log& log = logs_[number];
    if (log.scan.state == LogState::kValid) appended[number] = copy_log(log.path, log.scan.end);
  }
  // A log that was emptied never has its former header again. With that header, the bytes above are of the same log.
  for (const Log& log : logs_) {
    if (!(peek(log.path) == log.beginning)) return std::nullopt;
  }
  bool any = false;
  const std::size_t older = logs_[0].scan.header.generation <= logs_[1].scan.header.generation ? 0 : 1;
  for (const std::size_t number : {older, 1 - older}) {
    Log& log = logs_[number];
    if (!appended[number]) continue;
    LogCopy& copy = *appended[number];
    if (!log.scan.damage.empty()) {  // more of it would change its description
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
  JournalReader reader;
  reader.pool_ = pool;
  reader.read();
  return reader;
}

bool JournalReader::refresh() {
  if (const std::optional<bool> any = read_appended()) return *any;
  *this = open(pool_);
  return true;
}

void JournalReader::forget() noexcept {
  records_.clear();
  copies_.clear();
  next_ = 0;
}

std::optional<EncodedRecord> JournalReader::next(std::uint64_t from) {
  if (next_ < records_.size() && records_[next_].seq < from) {
    const auto begin = records_.begin() + static_cast<std::ptrdiff_t>(next_);
    const auto found = std::ranges::lower_bound(begin, records_.end(), from, {}, &EncodedRecord::seq);
    next_ = static_cast<std::size_t>(found - records_.begin());
  }
  return next_ == records_.size() ? std::nullopt : std::optional(records_[next_++]);
}

}  // namespace ringside
