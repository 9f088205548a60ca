// Whether a run may use a pool, which pool it gets, and what becomes of the iterates in it: one place decides. A pool
// that holds another run's iterates is never overwritten silently, and a run that is refused leaves everything as it
// was.
#pragma once

#include <string>
#include <vector>

#include "analyzer/pool/ring_pool.hpp"
#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/run_description.hpp"
#include "common/options/options.hpp"
#include "common/telemetry/step_figures.hpp"

namespace ringside {

/// Throws Error (exit code 2, naming --resume and --overwrite) if the pool at `options.pool` holds committed iterates,
/// 3 if another process uses it or it belongs to another user. Does nothing if there is no such file, or an empty pool.
/// Only reads; a file that is not a pool is an error of its own (see RingReader::open).
void refuse_foreign_iterates(const RingOptions& options);

/// Throws Error (as RingPool::open) if the file at `options.pool` could serve no run, so that a service fails at its
/// start and not hours later when a producer attaches. What an interrupted creation left passes, and a ring that only
/// libpmemobj cannot open: a pool can be made of it.
void check_pool(const RingOptions& options);

/// What becomes of the iterates in a pool that a run was admitted to.
enum class Iterates {
  kNone,   // there are none
  kClear,  // they go: the user said so
  kOwn,    // they are of this very run, whose analyzer was lost: it is taken over
  kResume  // they are of an earlier run of the same problem, which goes on
};

struct Admission {
  RingPool pool;
  Iterates iterates = Iterates::kNone;
  RunDescription run;  // as it is kept: with kOwn and kResume the description in the pool
  std::vector<StepFigures> let_go;  // what a replaced ring kept: the journal may lack some of it
};

/// The pool for `run`: the one at `options.pool`, or a new one. Iterates of another run are refused unless `use` allows
/// for them; so is a pool of another shape, or one that was never finished, unless there is nothing in it to lose
/// (kResume) or all of it may go (kOverwrite): then it is replaced (see RingPool::replace), and with kOverwrite a ring
/// that libpmemobj cannot open, too, unless it holds this very run's iterates. Iterates that may go are
/// there until the caller clears them. Throws Error: exit code 2 when refused; 3 if in use, another user's, no space,
/// no permission; 5 if damaged. The previous file is then still there.
Admission admit(const RingOptions& options, const RunDescription& run, PoolUse use);

}  // namespace ringside
