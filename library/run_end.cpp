// SPDX-License-Identifier: BSD-3-Clause
#include "library/run_end.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "common/files/lock_holder.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/platform/error.hpp"
#include "common/records/plain_record.hpp"

namespace ringside::library {

bool RunEnd::has_come(Clock::time_point now) {
  if (now < next_look_) return false;
  next_look_ = now + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
  read_journal();
  if (ended_) return true;
  if (is_owned()) {
    ownerless_since_ = {};
    return false;
  }
  if (ownerless_since_ == Clock::time_point{}) ownerless_since_ = now;
  return now - ownerless_since_ >= kOwnerless;
}

/// A journal that is missing, damaged or not to be read says nothing.
void RunEnd::read_journal() {
  try {
    if (journal_files_there(pool_).empty()) return;
    JournalReader journal = JournalReader::open(pool_);
    while (const std::optional<EncodedRecord> encoded = journal.next(seen_seq_ + 1)) {
      seen_seq_ = encoded->seq;
      const std::optional<PlainRecord> record = decode_record(encoded->bytes);
      if (!record) continue;
      if (record->kind == RecordKind::kRunStarted) ended_ = false;
      if (record->kind == RecordKind::kRunEnded) ended_ = true;
    }
  } catch (const Error&) {
  }
}

bool RunEnd::is_owned() const {
  struct stat status {};
  return stat(pool_.c_str(), &status) == 0 && flock_holder(status).has_value();
}

}  // namespace ringside::library
