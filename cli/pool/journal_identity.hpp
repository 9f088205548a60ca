// Whether the journal beside a pool is that pool's: its records name runs and, where a run begins, the pool.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "analyzer/ring/ring_view.hpp"
#include "common/kernels/hash.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// What the records of a journal name, gathered while they are read for something else.
struct NamedByJournal {
  std::set<Id128> runs;
  std::set<Id128> pools;  // of runs that began; none in records from before these named it
  std::optional<Id128> newest_run;
  std::int64_t newest_unix_ns = 0;  // when the newest record was made

  void add(const wire::Record& record);
};

/// What there is to tell a user of a journal that names nothing of its pool's, in one line; both are empty where there
/// is nothing to tell.
struct JournalIdentity {
  std::string foreign;  // it belongs to another pool
  std::string older;    // it ends before the pool's runs began: the pool's own, from before them, or another pool's
};

/// Says nothing where the journal shares the pool's id or a run with the ring, where either names no run, and while a
/// process owns the pool, whose ring is ahead of the journal.
JournalIdentity identify(const NamedByJournal& journal, const std::string& pool, const RingView& ring);

/// The same; also says nothing where the pool cannot be read.
JournalIdentity identify(const NamedByJournal& journal, const std::string& pool);

}  // namespace ringside
