// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/journal/journal.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>

#include "analyzer/journal/journal_storage.hpp"
#include "common/journal/journal_layout.hpp"
#include "common/journal/journal_log_copy.hpp"
#include "common/journal/journal_scan.hpp"
#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/thread.hpp"
#include "common/program/log.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;       // the largest append to a storage
constexpr std::uint64_t kLeastBytes = std::uint64_t{256} << 10;  // two logs with room for the largest record
constexpr std::chrono::seconds kSyncInterval{1};
static_assert(kBufferBytes > sizeof(JournalHeader) + frame_bytes(kMaxRecordBytes));
static_assert(kLeastBytes / kJournalLogs > sizeof(JournalHeader) + frame_bytes(kMaxRecordBytes));

/// Syncs the logs that have unsynced bytes about once a second, so that no append waits for the disk.
class Syncer {
 public:
  explicit Syncer(std::array<std::unique_ptr<JournalStorage>, kJournalLogs>& logs) : logs_(logs) {
    thread_ = quiet_thread([this](const std::stop_token& stop) { run(stop); });
  }

  void mark_dirty(std::uint32_t log) noexcept { dirty_[log].store(true, std::memory_order_release); }
  int error() const noexcept { return error_.load(std::memory_order_acquire); }

  /// The kernel reports a failed sync once. So the caller that receives the error stores it for later callers.
  int sync() noexcept {
    const std::lock_guard lock(syncing_);
    for (std::uint32_t log = 0; log < kJournalLogs; ++log) {
      if (!dirty_[log].exchange(false, std::memory_order_acq_rel)) continue;
      if (const int error = logs_[log]->sync(); error != 0 && error_.load() == 0) error_.store(error);
    }
    return error_.load();
  }

 private:
  void run(const std::stop_token& stop) noexcept {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    while (error() == 0 && !waited_.wait_for(lock, stop, kSyncInterval, [&] { return stop.stop_requested(); })) sync();
  }

  std::array<std::unique_ptr<JournalStorage>, kJournalLogs>& logs_;
  std::array<std::atomic<bool>, kJournalLogs> dirty_ = {};
  std::atomic<int> error_{0};
  std::mutex syncing_;
  std::condition_variable_any waited_;
  std::jthread thread_;
};

/// The existing logs, which are all of one kind, in the state before the first of them is opened for writing.
struct LogsThere {
  std::array<LogScan, kJournalLogs> scan;
  std::optional<JournalKind> kind;
};

LogsThere look_at_logs(const std::string& pool) {
  LogsThere there;
  for (std::uint32_t log = 0; log < kJournalLogs; ++log) {
    const std::string path = journal_log_path(pool, log);
    const std::optional<LogCopy> file = copy_log(path);
    if (!file || file->file_bytes == 0) continue;
    if (there.kind && *there.kind != file->place.kind) {
      throw usage_error(
          "{}: this log was written with --journal {}, the other log with --journal {}; expected the same for both: "
          "move one log away",
          path, to_string(file->place.kind), to_string(*there.kind));
    }
    there.kind = file->place.kind;
    LogScan& scan = there.scan[log];
    scan = scan_log(file->bytes(), log, file->place.begin);
    if (scan.state == LogState::kForeign || scan.state == LogState::kNewer) {
      throw usage_error("{}: {}; move it away", path, scan.damage);
    }
  }
  return there;
}

JournalKind choose(JournalKind asked, std::optional<JournalKind> there, Storage storage, const std::string& pool) {
  if (asked == JournalKind::kOff) throw usage_error("--journal off: no journal is kept");
  if (asked == JournalKind::kAuto) {
    if (there) return *there;
    return has_pmemlog() && persists_in_place(storage) ? JournalKind::kPmemlog : JournalKind::kFile;
  }
  if (there && *there != asked) {
    throw usage_error(
        "{}: this journal was written with --journal {}; found --journal {}, expected {} or auto; or move the journal "
        "away",
        journal_log_path(pool, 0), to_string(*there), to_string(asked), to_string(*there));
  }
  return asked;
}

}  // namespace

struct Journal::Implementation {
  JournalKind kind = JournalKind::kFile;
  std::array<std::unique_ptr<JournalStorage>, kJournalLogs> logs;
  std::array<std::uint64_t, kJournalLogs> oldest = {};  // the first record's number; 0: the log has no record
  std::uint64_t newest = 0;
  std::uint32_t active = 0;      // the log to which records are appended
  bool begun = false;            // whether the active log has a header
  std::uint64_t generation = 0;  // the generation of the active log; 0: no log is active yet
  std::uint64_t seed = 0;        // the seed of the active log's frames
  std::unique_ptr<std::byte[]> buffer = std::make_unique<std::byte[]>(kBufferBytes);
  std::size_t buffered = 0;
  std::uint64_t buffered_first = 0;  // numbers of the first and the last record in the buffer
  std::uint64_t buffered_last = 0;
  int error = 0;
  std::optional<Syncer> syncer;  // last member, so that its thread ends first

  int flush() noexcept;
  int begin_log(std::uint64_t first_seq) noexcept;
  int add(const EncodedRecord& record) noexcept;
};

/// Appends the buffered records to the active log.
int Journal::Implementation::flush() noexcept {
  if (buffered == 0) return 0;
  if (const int failed = logs[active]->append({buffer.get(), buffered}); failed != 0) return failed;
  if (syncer) syncer->mark_dirty(active);
  if (buffered_first != 0 && oldest[active] == 0) oldest[active] = buffered_first;
  newest = std::max(newest, buffered_last);
  buffered = 0;
  buffered_first = buffered_last = 0;
  return 0;
}

/// Empties the active log. Its header and its first records are written later, by one append.
int Journal::Implementation::begin_log(std::uint64_t first_seq) noexcept {
  if (const int failed = logs[active]->clear(); failed != 0) return failed;
  oldest[active] = 0;
  JournalHeader header;
  header.log = active;
  header.generation = ++generation;
  header.first_seq = first_seq;
  header.created_realtime_ns = realtime_ns();
  header.hash = seed = journal_header_hash(header);
  std::memcpy(buffer.get(), &header, sizeof(header));
  buffered = sizeof(header);
  begun = true;
  return 0;
}

int Journal::Implementation::add(const EncodedRecord& record) noexcept {
  const std::uint64_t last = std::max(newest, buffered_last);
  if (record.seq == 0 || (last != 0 && record.seq != last + 1)) return EINVAL;
  if (record.bytes.empty() || record.bytes.size() > kMaxRecordBytes) return EMSGSIZE;
  const std::size_t bytes = frame_bytes(record.bytes.size());
  const JournalStorage& log = *logs[active];
  const bool full = begun && log.used_bytes() + buffered + bytes > log.capacity_bytes();
  if (full || buffered + bytes > kBufferBytes) {
    if (const int failed = flush(); failed != 0) return failed;
  }
  if (full) active = (active + 1) % kJournalLogs;
  if (full || !begun) {
    if (const int failed = begin_log(record.seq); failed != 0) return failed;
  }
  encode_frame(buffer.get() + buffered, record.seq, record.bytes, seed);
  buffered += bytes;
  if (buffered_first == 0) buffered_first = record.seq;
  buffered_last = record.seq;
  return 0;
}

Journal Journal::open(const std::string& pool, const JournalOptions& options, Storage storage, Durability durability) {
  if (options.bytes < kLeastBytes) {
    throw usage_error("--journal-size: found {}, expected at least {} bytes", options.bytes, kLeastBytes);
  }
  const JournalKind kind = choose(options.kind, look_at_logs(pool).kind, storage, pool);
  auto made = std::make_unique<Implementation>();
  made->kind = kind;
  const Foreign foreign = options.foreign ? Foreign::kAllowed : Foreign::kRefused;
  for (std::uint32_t log = 0; log < kJournalLogs; ++log) {
    const std::string path = journal_log_path(pool, log);
    const std::uint64_t capacity = options.bytes / kJournalLogs;
    made->logs[log] = kind == JournalKind::kFile ? open_file_log(path, capacity, foreign)
                                                 : open_pmemlog_log(path, capacity, storage, foreign);
  }
  // The logs are read again under the lock, because another writer may have written before this process had the lock.
  const LogsThere there = look_at_logs(pool);
  for (std::uint32_t log = 0; log < kJournalLogs; ++log) {
    const LogScan& scan = there.scan[log];
    if (!scan.damage.empty()) {
      log_warning("event=journal_damaged file=\"{}\" text=\"{}\"", journal_log_path(pool, log), scan.damage);
    }
    if (scan.state != LogState::kValid) continue;
    made->oldest[log] = scan.oldest_seq();
    made->newest = std::max({made->newest, scan.newest_seq(), scan.header.first_seq - 1});
    if (made->begun && scan.header.generation <= made->generation) continue;
    made->active = log;
    made->begun = true;
    made->generation = scan.header.generation;
    made->seed = scan.header.hash;
  }
  if (made->begun) {
    JournalStorage& log = *made->logs[made->active];
    if (const int failed = log.cut(there.scan[made->active].end); failed != 0) {
      throw system_error("{}: an incomplete record at the end cannot be removed: {}",
                         journal_log_path(pool, made->active), errno_text(failed));
    }
  }
  if (durability == Durability::kPower) made->syncer.emplace(made->logs);
  return Journal(std::move(made));
}

Journal::Journal(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Journal::~Journal() = default;
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;

JournalKind Journal::kind() const noexcept {
  return implementation_->kind;
}

std::uint64_t Journal::oldest_seq() const noexcept {
  std::uint64_t oldest = 0;
  for (const std::uint64_t seq : implementation_->oldest) {
    if (seq != 0 && (oldest == 0 || seq < oldest)) oldest = seq;
  }
  return oldest;
}

std::uint64_t Journal::newest_seq() const noexcept {
  return implementation_->newest;
}

std::uint64_t Journal::first_seq_of_log() const noexcept {
  return implementation_->oldest[implementation_->active];
}

std::uint64_t Journal::log_capacity_bytes() const noexcept {
  return implementation_->logs[implementation_->active]->capacity_bytes();
}

int Journal::append(std::span<const EncodedRecord> records) noexcept {
  Implementation& self = *implementation_;
  if (self.error == 0 && self.syncer) self.error = self.syncer->error();
  for (std::size_t i = 0; i < records.size() && self.error == 0; ++i) self.error = self.add(records[i]);
  if (self.error == 0) self.error = self.flush();
  return self.error;
}

int Journal::sync() noexcept {
  return implementation_->syncer ? implementation_->syncer->sync() : 0;
}

}  // namespace ringside
