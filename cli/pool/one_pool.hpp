// SPDX-License-Identifier: BSD-3-Clause
// For commands that read one pool, or one journal: what a ranks file, or a folder with the rings of several nodes
// (docs/publish/mpi.md), names for them. A run of ranks on one node has one pool. Of a run of several nodes, the first
// node has the journal of the whole.
#pragma once

#include <string>

namespace ringside {

/// `name` itself, or the only pool that it names. Throws Error: exit code 2 for rings of several nodes, with their pools;
/// what RingSet says if they cannot be used.
std::string one_pool_of(const std::string& name);

/// The same for a journal: of several nodes, that of the whole run.
std::string one_journal_of(const std::string& name);

}  // namespace ringside
