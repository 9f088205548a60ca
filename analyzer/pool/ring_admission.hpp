// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a run may use a pool, which pool it gets, and what happens to the iterates in it. A pool with another
// run's iterates is overwritten only on request, and a refused run changes nothing.
#pragma once

#include <string>
#include <vector>

#include "analyzer/pool/ring_pool.hpp"
#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/run_description.hpp"
#include "common/options/options.hpp"
#include "common/records/step_results.hpp"
#include "common/results/result_description.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// Throws Error: exit code 2 (naming --resume and --overwrite) if the pool at `options.pool` holds committed iterates,
/// 3 if another process uses the pool or it belongs to another user. Does nothing if the file does not exist or the
/// pool is empty. Only reads the file. For a file of another kind, it throws as RingReader::open does.
void refuse_foreign_iterates(const RingOptions& options);

/// Throws Error (as RingPool::open does) if no run could use the file at `options.pool`. So a service fails when it
/// starts, not hours later when a producer attaches. Accepts a file that a new pool can replace: the remains of an
/// interrupted creation, a ring that only libpmemobj cannot open, and a ring of an older format.
void check_pool(const RingOptions& options);

/// How an admitted run starts in its pool.
enum class RunStart {
  kEmpty,     // anew: the pool holds no iterates
  kCleared,   // anew: its iterates are discarded, as requested
  kTakeover,  // its iterates belong to the same run, whose analyzer was lost
  kResume     // its iterates belong to an earlier run of the same problem
};

/// A run that requests a pool, and the content of its steps.
struct OfferedRun {
  RunDescription run;
  Schema schema;
  std::vector<Scalar> scalars;
  std::vector<ResultDescription> plug_ins = {};  // results that plug-ins compute from its fields
};

struct Admission {
  RingPool pool;
  RunStart start = RunStart::kEmpty;
  RunDescription run;                       // with kTakeover and kResume: the description in the pool
  std::vector<RecordedStep> replaced_steps;  // steps that a replaced ring kept; the journal may lack some
};

/// The pool for the run: the one at `options.pool`, or a new one. A pool with iterates of another run is refused unless
/// `use` allows it. A pool of another shape, or an unfinished pool, is replaced (see RingPool::replace) if it contains
/// nothing that could be lost (kResume), or if all of it may be discarded (kOverwrite); otherwise it is refused. With
/// kOverwrite a ring of an older format, or one that libpmemobj cannot open, is replaced too, unless it holds this
/// run's own iterates. Iterates to be discarded stay until the caller clears them. Throws Error: exit code 2 if the run
/// is refused; 3 if the pool is in use or belongs to another user, or if space or permission is missing; 5 if the pool
/// is damaged. The previous file then still exists.
Admission admit(const RingOptions& options, const OfferedRun& offered, PoolUse use);

}  // namespace ringside
