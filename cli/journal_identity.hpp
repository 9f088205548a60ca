// Whether the journal beside a pool belongs to that pool. Its files do not name the pool; but its records name runs,
// and so does the ring.
#pragma once

#include <string>

#include "analyzer/ring_view.hpp"

namespace ringside {

/// Why the journal beside `pool`, whose ring this is, belongs to another pool, in one line for a user. Empty if it
/// shares a run with the ring, if either names no run, if there is no journal or it cannot be read, and while a process
/// owns the pool, because the ring is then ahead of the journal.
std::string foreign_journal(const std::string& pool, const RingView& ring);

/// The same; also empty if the pool cannot be read.
std::string foreign_journal(const std::string& pool);

}  // namespace ringside
