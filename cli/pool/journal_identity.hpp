// SPDX-License-Identifier: BSD-3-Clause
// Checks whether a journal belongs to the pool beside it: each record contains the id of its run, and the record of a
// run's start also contains the id of its pool.
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
  std::set<Id128> pools;  // from the records of runs' starts, which contain no pool's id in older versions
  std::optional<Id128> newest_run;
  std::int64_t newest_unix_ns = 0;  // when the newest record was made

  void add(const wire::Record& record);
};

/// One line for a user about a journal that names neither the pool nor a run of the pool. At most one of the two texts
/// is set; both are empty if there is nothing to report.
struct JournalIdentity {
  std::string foreign;  // set if the journal belongs to another pool
  std::string older;    // set if the journal, of this pool or another one, ends before the pool's runs began
};

/// Both texts are empty in these cases: the journal contains the pool's id or a run of the ring; the journal or the
/// ring has no run; or a process owns the pool, because the ring is then ahead of the journal.
JournalIdentity identify(const NamedByJournal& journal, const std::string& pool, const RingView& ring);

/// Like the function above; both texts are also empty if the pool cannot be read.
JournalIdentity identify(const NamedByJournal& journal, const std::string& pool);

}  // namespace ringside
