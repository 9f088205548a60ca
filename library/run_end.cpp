// SPDX-License-Identifier: BSD-3-Clause
#include "library/run_end.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "common/files/lock_holder.hpp"
#include "common/journal/journal_files.hpp"
#include "common/platform/error.hpp"
#include "common/records/plain_record.hpp"

namespace ringside::library {

namespace {

/// how: how the run ended. Returns whether the run is over. An analyzer that is stopped leaves the run to a successor,
/// for which the producer waits.
bool is_final(const std::string& how) {
  return how != "stopped" && how != "producer_stopped";
}

}  // namespace

RunState RunEnd::state(Clock::time_point now) {
  if (last_look_ && now - *last_look_ < pause_) return state_;
  // After a long time without calls, it is not known whether the pool had an owner during that time.
  if (last_look_ && now - *last_look_ > 2 * kLongestPause) ownerless_since_.reset();
  last_look_ = now;
  pause_ = std::min(2 * pause_, kLongestPause);
  return state_ = look(now);
}

RunState RunEnd::look(Clock::time_point now) {
  read_journal();
  if (ended_) return RunState::kEnded;
  if (!is_ownerless()) {
    ownerless_since_.reset();
    return RunState::kGoesOn;
  }
  if (!ownerless_since_) ownerless_since_ = now;
  return now - *ownerless_since_ >= kOwnerless ? RunState::kLeft : RunState::kGoesOn;
}

/// Updates ended_. If the journal is missing, damaged or unreadable, nothing changes.
void RunEnd::read_journal() {
  try {
    if (journal_files_there(pool_).empty()) return;
    if (!journal_) {
      journal_.emplace(JournalReader::open(pool_));
    } else if (!journal_->refresh()) {
      return;
    }
    if (seen_seq_ > journal_->newest_seq()) seen_seq_ = 0;  // it is another journal
    while (const std::optional<EncodedRecord> encoded = journal_->next(seen_seq_ + 1)) {
      seen_seq_ = encoded->seq;
      const std::optional<PlainRecord> record = decode_record(encoded->bytes);
      if (!record) continue;
      if (record->kind == RecordKind::kRunStarted) ended_ = false;
      if (record->kind == RecordKind::kRunEnded) ended_ = is_final(record->how);
    }
    journal_->forget();
  } catch (const Error&) {
  }
}

/// Whether no process owns the pool. Also false if this cannot be determined.
bool RunEnd::is_ownerless() const {
  struct stat status {};
  return stat(pool_.c_str(), &status) == 0 && access("/proc/locks", R_OK) == 0 && !flock_holder(status);
}

}  // namespace ringside::library
