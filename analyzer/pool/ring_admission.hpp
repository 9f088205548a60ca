// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a run may use a pool, which pool it gets, and what becomes of the iterates in it. A pool that holds
// another run's iterates is never overwritten silently, and a run that is refused leaves everything as it was.
#pragma once

#include <string>
#include <vector>

#include "analyzer/pool/ring_pool.hpp"
#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/run_description.hpp"
#include "common/options/options.hpp"
#include "common/records/recorded_step.hpp"
#include "common/results/result_description.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// Throws Error (exit code 2, naming --resume and --overwrite) if the pool at `options.pool` holds committed iterates,
/// 3 if another process uses it or it belongs to another user. Does nothing if there is no such file, or an empty pool.
/// Only reads; a file that is not a pool is an error of its own (see RingReader::open).
void refuse_foreign_iterates(const RingOptions& options);

/// Throws Error (as RingPool::open) if the file at `options.pool` could serve no run, so that a service fails at its
/// start and not hours later when a producer attaches. What an interrupted creation left is accepted, and so are a
/// ring that only libpmemobj cannot open and one of an older format: a new pool can replace them.
void check_pool(const RingOptions& options);

/// How a run starts in the pool that it was admitted to.
enum class RunStart {
  kEmpty,     // anew: it holds no iterates
  kCleared,   // anew: its iterates are discarded, as the user asked
  kTakeover,  // its iterates are of this very run, whose analyzer was lost
  kResume     // its iterates are of an earlier run of the same problem
};

/// A run that asks for a pool, and what each of its steps has.
struct OfferedRun {
  RunDescription run;
  Schema schema;
  std::vector<Scalar> scalars;
  std::vector<ResultDescription> plug_ins = {};  // what plug-ins compute of its fields
};

struct Admission {
  RingPool pool;
  RunStart start = RunStart::kEmpty;
  RunDescription run;                       // with kTakeover and kResume: the description in the pool
  std::vector<RecordedStep> replaced_steps;  // that a replaced ring kept: the journal may lack some
};

/// The pool for the run: the one at `options.pool`, or a new one. A pool with iterates of another run is refused unless
/// `use` allows it. A pool of another shape, or one that was never finished, is replaced (see RingPool::replace) if
/// nothing in it can be lost (kResume) or all of it may be discarded (kOverwrite); otherwise it is refused. With
/// kOverwrite a ring of an older format is replaced too, and one that libpmemobj cannot open, unless it holds this very
/// run's iterates. Iterates
/// that may be discarded stay until the caller clears them. Throws Error: exit code 2 when refused; 3 if in use,
/// another user's, no space, no permission; 5 if damaged. The previous file is then still there.
Admission admit(const RingOptions& options, const OfferedRun& offered, PoolUse use);

}  // namespace ringside
