// SPDX-License-Identifier: BSD-3-Clause
// An analyzer's first check of its pool's place, before the analyzer makes or changes anything. The check refuses some
// places, and logs warnings for others.
#pragma once

#include <string>

#include "common/options/options.hpp"

namespace ringside {

/// Throws Error (exit code 3) if `--require-dax` is given and the place has no DAX. Warns of persistent memory that is
/// used through the page cache, and of a pool that others may read.
void check_place(const RingOptions& ring);

/// Throws Error (exit code 3) if the journal is to be written and belongs to another user. The journal checks this
/// again when it is opened, but this check takes place before the admission of a run.
void check_journal_place(const RingOptions& ring, JournalKind journal);

/// Throws Error (exit code 2) if the producer requests another pool than `own`. asked: an absolute path that the
/// producer sent; empty if any pool is accepted.
void check_asked_pool(const std::string& asked, const std::string& own);

}  // namespace ringside
