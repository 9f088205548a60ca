// SPDX-License-Identifier: BSD-3-Clause
// The journal's reading side: it copies and checks both logs and puts their records in order.
#include "common/journal/journal_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "common/journal/journal_log_copy.hpp"
#include "common/journal/journal_scan.hpp"
#include "common/platform/error.hpp"
#include "common/platform/formatted.hpp"

namespace ringside {
namespace {

// A writer appends tens of thousands of records before it empties a log again, so even a second attempt is rare.
constexpr int kAttempts = 20;

using Logs = std::array<std::optional<LogCopy>, kJournalLogs>;

/// The beginning of a log, to detect that it was emptied since.
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
  return Beginning(copy_log(path, sizeof(JournalHeader)));
}

/// Reads both logs so that they fit together. The older one is read first, so that the newer one can only have grown
/// meanwhile. If either was emptied, both are read again.
Logs read_logs(const std::string& pool) {
  Logs logs;
  const std::array<std::string, kJournalLogs> paths = {journal_log_path(pool, 0), journal_log_path(pool, 1)};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::size_t older = peek(paths[0]).generation() <= peek(paths[1]).generation() ? 0 : 1;
    for (const std::size_t log : {older, 1 - older}) logs[log] = copy_log(paths[log]);
    if (Beginning(logs[0]) == peek(paths[0]) && Beginning(logs[1]) == peek(paths[1])) break;
  }
  return logs;
}

struct KeptRecord {
  std::uint64_t seq = 0;
  std::string_view bytes;
};

}  // namespace

struct JournalReader::Implementation {
  JournalKind kind = JournalKind::kFile;
  std::uint64_t file_bytes = 0;
  Logs logs;
  std::vector<KeptRecord> records;  // ascending
  std::size_t next = 0;
  std::string damage;
  std::string torn;

  void report(const std::string& file, const std::string& text) {
    damage += formatted("{}{}: {}", damage.empty() ? "" : "; ", file, text);
  }
  void take(const LogCopy& file, const LogScan& scan, const std::string& path);
};

void JournalReader::Implementation::take(const LogCopy& file, const LogScan& scan, const std::string& path) {
  const std::uint64_t last = records.empty() ? 0 : records.back().seq;
  if (last != 0 && !scan.records.empty() && scan.header.first_seq > last + 1) {
    report(path, formatted("begins with record {}, the log before it ends with record {}: what was between is lost",
                           scan.header.first_seq, last));
  }
  for (const ScannedRecord& record : scan.records) {
    if (record.seq <= last) continue;  // used again after a power cut: the first record is kept
    const void* payload = file.copied.get() + record.offset;
    records.push_back({record.seq, {static_cast<const char*>(payload), record.bytes}});
  }
}

JournalReader JournalReader::open(const std::string& pool) {
  auto made = std::make_unique<Implementation>();
  made->logs = read_logs(pool);
  if (!made->logs[0] && !made->logs[1]) {
    throw usage_error("{}: no journal beside it; expected {} and {}", pool, journal_log_path(pool, 0),
                      journal_log_path(pool, 1));
  }
  std::array<LogScan, kJournalLogs> scans;
  bool any_is_ours = false;
  for (std::uint32_t log = kJournalLogs; log-- > 0;) {
    if (!made->logs[log]) continue;
    const LogCopy& file = *made->logs[log];
    scans[log] = scan_log(file.bytes(), log, file.place.begin);
    if (file.place.kind == JournalKind::kPmemlog && file.place.end == 0) {
      scans[log].damage = "byte 4096: offsets that point out of the file";
    }
    any_is_ours = any_is_ours || scans[log].state == LogState::kValid || scans[log].state == LogState::kDamaged;
    made->kind = file.place.kind;
    made->file_bytes += file.file_bytes;
  }
  for (std::uint32_t log = 0; log < kJournalLogs; ++log) {
    if (scans[log].torn_at) {
      made->torn += formatted("{}{}: ends within a record at byte {}: its writer is at work, or was killed",
                              made->torn.empty() ? "" : "; ", journal_log_path(pool, log), *scans[log].torn_at);
    }
    if (scans[log].damage.empty()) continue;
    const bool refused = scans[log].state == LogState::kForeign || scans[log].state == LogState::kNewer;
    if (refused && !any_is_ours) throw usage_error("{}: {}", journal_log_path(pool, log), scans[log].damage);
    made->report(journal_log_path(pool, log), scans[log].damage);
  }
  const std::size_t older = scans[0].header.generation <= scans[1].header.generation ? 0 : 1;
  for (const std::size_t log : {older, 1 - older}) {
    if (scans[log].state != LogState::kValid) continue;
    made->take(*made->logs[log], scans[log], journal_log_path(pool, static_cast<std::uint32_t>(log)));
  }
  return JournalReader(std::move(made));
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
  return implementation_->records.empty() ? 0 : implementation_->records.back().seq;
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
  return implementation_->file_bytes;
}

std::optional<EncodedRecord> JournalReader::next(std::uint64_t from) {
  const std::vector<KeptRecord>& records = implementation_->records;
  std::size_t& next = implementation_->next;
  if (next < records.size() && records[next].seq < from) {
    const auto begin = records.begin() + static_cast<std::ptrdiff_t>(next);
    const auto found = std::lower_bound(begin, records.end(), from,
                                        [](const KeptRecord& r, std::uint64_t seq) { return r.seq < seq; });
    next = static_cast<std::size_t>(found - records.begin());
  }
  if (next == records.size()) return std::nullopt;
  const KeptRecord& record = records[next++];
  return EncodedRecord{record.seq, record.bytes};
}

void JournalReader::rewind() noexcept {
  implementation_->next = 0;
}

const std::string& JournalReader::damage() const noexcept {
  return implementation_->damage;
}

}  // namespace ringside
