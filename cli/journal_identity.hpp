// Whether the journal beside a pool is that pool's. Its files name no pool; its records name runs, and so does the
// ring.
#pragma once

#include <string>

#include "analyzer/ring_view.hpp"

namespace ringside {

/// Why the journal beside `pool`, whose ring this is, belongs to another one, in one line for a user. Empty if it
/// shares a run with the ring, where either names none, where there is no journal or it cannot be read, and while a
/// process owns the pool, whose ring is ahead of the journal.
std::string foreign_journal(const std::string& pool, const RingView& ring);

/// The same; also empty where the pool cannot be read.
std::string foreign_journal(const std::string& pool);

}  // namespace ringside
