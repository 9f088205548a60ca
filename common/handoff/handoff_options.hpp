// SPDX-License-Identifier: BSD-3-Clause
// What a solver may choose when it publishes: the number of buffers, what may happen to iterates that it finds, and
// what to do when the analyzer is lost (docs/formats/handoff_protocol.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/handoff/coordination.hpp"
#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/step_sharing.hpp"
#include "common/platform/stop_flag.hpp"

namespace ringside {

/// What to do when the analyzer has been lost.
enum class OnAnalyzerLoss {
  kWait,      // wait for another analyzer, up to peer_timeout_s
  kContinue,  // continue; steps are skipped until another analyzer is available
  kStop       // end the run
};

struct HandoffOptions {
  std::string socket;  // path of the analyzer's socket
  CoordinationKind coordination = CoordinationKind::kLocks;
  MakeMessages messages = nullptr;  // for CoordinationKind::kMessages: make_messages (common/messages), if it is linked
  std::uint32_t buffers = 2;        // 2 to 64; 2 makes a double buffer
  double peer_timeout_s = 30;       // how long a peer may be absent or make no progress before it counts as lost
  PoolUse pool_use = PoolUse::kFresh;  // what may happen to iterates of other runs in the pool
  OnAnalyzerLoss on_analyzer_loss = OnAnalyzerLoss::kWait;
  std::int64_t spin_ns = 50'000;   // how long a wait spins before it sleeps; 0 if producer and analyzer share a core
  bool elastic = false;            // lend waiting cores and borrow the analyzer's; then neither side spins
  std::vector<int> cores = {};     // with `elastic`: the cores to lend
  bool lends_only = false;         // with `elastic`: borrow none; then both sides spin before they sleep or lend
  StopFlag stop = {};              // the flag that ends a wait early
  std::string while_waiting = {};  // a line for standard error, if no analyzer listens at first; empty: none
  std::string pool = {};           // the pool that the analyzer must have, an absolute path; empty: any
  std::uint64_t resume_from = 0;   // with PoolUse::kResume: the iteration to continue from; 0: the newest
  StepSharing* sharing = nullptr;  // for several processes that write parts; null, or outlives the attachment
  std::string ranks = {};          // for a run of several nodes: the text of its ranks file (docs/formats/files.md)
};

}  // namespace ringside
