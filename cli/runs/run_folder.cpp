// SPDX-License-Identifier: BSD-3-Clause
#include "cli/runs/run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "analyzer/pool/pool_file.hpp"
#include "common/journal/journal_files.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/kernels/hash.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

std::int64_t began(const RecordedRun& run) {
  return run.started ? run.started->started_unix_ns() : run.first_unix_ns;
}

}  // namespace

/// A journal, with the runs in the records that have been read so far.
class RunFolder::Journal {
 public:
  explicit Journal(std::string pool) : pool_(std::move(pool)) {}

  /// Reads new records. Returns whether anything has changed.
  bool look() {
    const std::string fault_before = fault_;
    try {
      const bool any = reader_ ? reader_->refresh() : open();
      if (any) take();
      fault_ = reader_->damage();
      code_ = ExitCode::kDamaged;
    } catch (const Error& error) {
      fault_ = error.what();
      code_ = error.code();
      reader_.reset();
    }
    // Only the last run can still be in progress.
    const bool goes_on = !recorded_.runs().empty() && !recorded_.runs().back().ended;
    const bool was_live = std::exchange(is_live_, goes_on && has_owner(pool_));
    return std::exchange(is_new_, false) || fault_ != fault_before || was_live != is_live_;
  }

  const std::vector<RecordedRun>& runs() const noexcept { return recorded_.runs(); }
  bool is_live(const RecordedRun& run) const noexcept { return is_live_ && &run == &recorded_.runs().back(); }
  const std::string& fault() const noexcept { return fault_; }
  ExitCode code() const noexcept { return code_; }

 private:
  bool open() {
    reader_ = std::make_unique<JournalReader>(JournalReader::open(pool_));
    return true;
  }

  void take() {
    // If the numbers of records restart, another journal has replaced this one.
    if (reader_->newest_seq() < newest_seq_) {
      recorded_ = RecordedRuns();
      newest_seq_ = 0;
    }
    std::vector<std::string_view> fresh;
    wire::Record record;
    const auto parse = [&record](std::string_view bytes) {
      return record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    };
    while (const std::optional<EncodedRecord> encoded = reader_->next(newest_seq_ + 1)) {
      fresh.push_back(encoded->bytes);
      newest_seq_ = encoded->seq;
    }
    // The description of a run may follow its first steps. The records of steps, which are most of the records, contain
    // no description.
    for (const std::string_view bytes : fresh) {
      if (parse(bytes) && !record.has_step()) recorded_.learn(record);
    }
    for (const std::string_view bytes : fresh) {
      if (parse(bytes)) recorded_.add(record);
    }
    is_new_ = is_new_ || !fresh.empty();
    reader_->forget();
  }

  const std::string pool_;
  std::unique_ptr<JournalReader> reader_;
  RecordedRuns recorded_;
  std::uint64_t newest_seq_ = 0;
  std::string fault_;
  ExitCode code_ = ExitCode::kDone;
  bool is_live_ = false;
  bool is_new_ = true;
};

RunFolder::RunFolder(const std::string& folder) : folder_(folder) {
  std::error_code error;
  if (!fs::is_directory(folder_, error)) {
    throw usage_error("--runs: found '{}', {}; expected a folder with pools and their journals", folder,
                      error ? error.message() : "which is not a folder");
  }
}

RunFolder::~RunFolder() = default;

/// The pools that have a journal, even pools that no longer exist.
std::vector<std::string> RunFolder::pools_found() {
  std::set<std::string> pools;
  std::error_code error;
  fs::recursive_directory_iterator at(folder_, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() >= kDeepest) at.disable_recursion_pending();
    std::error_code ignored;
    if (at->symlink_status(ignored).type() != fs::file_type::regular) continue;
    const std::string pool = pool_of_journal_file(at->path().string());
    // If the pool is a symbolic link, its journal is beside the file to which the link points.
    if (!pool.empty() && fs::symlink_status(pool, ignored).type() != fs::file_type::symlink) pools.insert(pool);
  }
  // If one of a journal's two logs is a symbolic link, neither log is read.
  std::erase_if(pools, [](const std::string& pool) {
    const std::vector<std::string> logs = journal_files_there(pool);
    return std::any_of(logs.begin(), logs.end(), [](const std::string& log) {
      std::error_code ignored;
      return fs::symlink_status(log, ignored).type() == fs::file_type::symlink;
    });
  });
  journals_left_out_ = pools.size() > kMostJournals ? pools.size() - kMostJournals : 0;
  std::vector<std::string> found(pools.begin(), pools.end());
  found.resize(found.size() - journals_left_out_);
  return found;
}

bool RunFolder::look() {
  const std::vector<std::string> pools = pools_found();
  bool changed = std::erase_if(journals_, [&pools](const auto& journal) {
                   return !std::binary_search(pools.begin(), pools.end(), journal.first);
                 }) > 0;
  for (const std::string& pool : pools) {
    std::unique_ptr<Journal>& journal = journals_[pool];
    if (!journal) journal = std::make_unique<Journal>(pool);
    changed = journal->look() || changed;
  }
  if (changed) list();
  return changed;
}

void RunFolder::list() {
  runs_.clear();
  faults_.clear();
  for (const auto& [pool, journal] : journals_) {
    const std::string name = fs::path(pool).lexically_relative(folder_).string();
    if (!journal->fault().empty()) faults_.push_back({name, journal->fault(), journal->code()});
    for (const RecordedRun& run : journal->runs()) {
      const std::string place = name + '\0' + run.run_id;
      runs_.push_back({to_string(hash128(place.data(), place.size())), name, pool,
                       state_of(run, journal->is_live(run)), &run});
    }
  }
  std::stable_sort(runs_.begin(), runs_.end(),
                   [](const ListedRun& a, const ListedRun& b) { return began(*a.run) > began(*b.run); });
  runs_left_out_ = runs_.size() > kMostRuns ? runs_.size() - kMostRuns : 0;
  runs_.resize(runs_.size() - runs_left_out_);
}

std::string RunFolder::left_out() const {
  std::string text;
  if (journals_left_out_ > 0) text = fmt::format("{} journals beyond the first {}", journals_left_out_, kMostJournals);
  if (runs_left_out_ > 0) {
    text += fmt::format("{}{} runs that are older than the newest {}", text.empty() ? "" : ", ", runs_left_out_, kMostRuns);
  }
  return text;
}

}  // namespace ringside
