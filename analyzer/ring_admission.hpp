// Whether a run may use a pool, and which pool it gets: one place decides. A pool that holds another run's iterates is
// never overwritten silently, and a run that is refused leaves everything as it was.
#pragma once

#include <string>

#include "analyzer/ring_pool.hpp"
#include "common/options.hpp"

namespace ringside {

/// Throws Error (exit code 2, naming --overwrite) if the pool at `path` holds committed iterates; does nothing if there
/// is no such file, or an empty pool. Only looks; a file that is not a pool is an error of its own (see
/// RingReader::open).
void refuse_foreign_iterates(const std::string& path);

/// Throws Error (as RingPool::open) if there is a file at `path` that no run could use: known when a service starts,
/// not when hours later a producer attaches. What an interrupted creation left passes, and so does a ring that
/// only libpmemobj cannot open: --overwrite makes a pool of it.
void check_pool(const std::string& path);

/// The pool for a run of iterates of `rows` doubles: the one at `options.pool`, or a new one. A pool with iterates, of
/// another shape, or never finished is refused unless `may_overwrite`. With it, a pool of another shape, or what an
/// interrupted creation left, or one that libpmemobj cannot open, is replaced (see RingPool::replace); one of the right
/// shape keeps its iterates until the caller clears it. Throws Error: exit code 2 when refused, 3 in use, no space, no
/// permission, 5 damaged; whatever was there before is then still there.
RingPool admit(const RingOptions& options, std::uint64_t rows, bool may_overwrite);

}  // namespace ringside
