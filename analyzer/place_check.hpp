// The first look of an analyzer at the place of its pool, before it makes or changes anything: what it refuses, and
// what the log should tell whoever runs it.
#pragma once

#include "common/options/options.hpp"

namespace ringside {

/// Throws Error (exit code 3) where `--require-dax` asks for what is not there. Warns of persistent memory that is used
/// through the page cache, and of a pool that others may read.
void check_place(const RingOptions& ring);

/// Throws Error (exit code 3) if the journal beside the pool is to be written and belongs to another user. The journal
/// checks again when it opens; this check comes before a run is taken in.
void check_journal_place(const RingOptions& ring, JournalKind journal);

}  // namespace ringside
