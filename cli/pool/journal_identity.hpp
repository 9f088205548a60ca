// SPDX-License-Identifier: BSD-3-Clause
// Checks whether a journal belongs to the pool beside it: records name their run, and the start of a run its pool.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "common/kernels/hash.hpp"
#include "common/ring/ring_view.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// The ids in a journal's records. Callers collect them while they read the records for another purpose.
struct NamedByJournal {
  std::set<Id128> runs;
  std::set<Id128> pools;  // of runs that began; records of older versions lack it
  std::optional<Id128> newest_run;
  std::int64_t newest_unix_ns = 0;  // when the newest record was made

  void add(const wire::Record& record);
};

/// One line for a user about a journal that names neither its pool nor a run of it. At most one of the two is set;
/// both are empty if there is nothing to report.
struct JournalIdentity {
  std::string foreign;  // it belongs to another pool
  std::string older;    // it ends before the pool's runs began: an older one of this pool, or another pool's
};

/// Both are empty if the journal shares the pool's id or a run with the ring, if either names no run, and while a
/// process owns the pool: its ring is then ahead of the journal.
JournalIdentity identify(const NamedByJournal& journal, const std::string& pool, const RingView& ring);

/// The same; both are also empty if the pool cannot be read.
JournalIdentity identify(const NamedByJournal& journal, const std::string& pool);

}  // namespace ringside
