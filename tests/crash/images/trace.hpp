// SPDX-License-Identifier: BSD-3-Clause
// All operations on a pool, as one sequence: every store, flush, fence and sync of the protocol, and every
// acknowledgement at the moment when it was given. Scenarios record traces, mutants change them, and the crash models
// cut them off.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/ring/ring_layout.hpp"

namespace ringside::crash {

enum class EventKind : std::uint8_t {
  // Operations on the pool.
  kStore,      // one word, with an ordinary store
  kCopyWord,   // one word, with a non-temporal store
  kFlush,      // of `value` bytes at `offset`
  kDrain,      // by `thread`
  kSyncBegin,  // fdatasync was called ...
  kSyncEnd,    // ... and has returned 0
  // Facts that are known outside the pool. `run` and `iteration` name an iterate.
  kRunBegins,  // begin_run was called
  kRunBegun,   // ... and has returned
  kClearing,   // clear was called
  kCleared,    // ... and has returned
  kGoingBack,  // begin_run was called for a run that continues from `iteration`: newer iterates are discarded ...
  kWentBack,   // ... and it has returned
  kHeld,       // a reader holds the slot of commit `value` from now on (it may release the slot later)
  kTaking,     // the slot of commit `value` may be overwritten from now on
  kPublished,  // the iterate is handed to the ring
  kCommitted,  // its commit, number `value`, was acknowledged
  kReduced,    // its reductions are stored
  kPersisted,  // commits up to number `value` were reported to survive power loss
  kFinished,   // finish has returned: everything up to now was reported to survive power loss
  kFormatted,  // the creation of the pool was acknowledged
  kKilled      // the owner died; the CPU caches and the page cache survive, but pending drains and syncs do not
};

/// The function of the protocol to which an event belongs.
enum class Phase : std::uint8_t {
  kNone,
  kFormat,
  kMend,
  kBeginRun,
  kClear,
  kBegin,
  kCopy,
  kCommit,
  kReductions,
  kFinish
};

struct Event {
  EventKind kind = EventKind::kDrain;
  Phase phase = Phase::kNone;
  std::uint8_t thread = 0;
  bool ends_copy = false;  // the last word of a call of copy_nontemporal
  std::uint32_t run = 0;
  std::uint64_t offset = 0;  // the word's offset from the beginning of the pool
  std::uint64_t value = 0;
  std::uint64_t iteration = 0;
};

constexpr bool is_store(EventKind kind) noexcept {
  return kind == EventKind::kStore || kind == EventKind::kCopyWord;
}
constexpr bool is_acknowledgement(EventKind kind) noexcept {
  return kind >= EventKind::kRunBegins;
}

using Trace = std::vector<Event>;

constexpr std::string_view to_string(Phase phase) noexcept {
  constexpr std::string_view kNames[] = {"",      "format", "mend",   "begin_run",  "clear",
                                         "begin", "copy",   "commit", "reductions", "finish"};
  return kNames[static_cast<int>(phase)];
}

}  // namespace ringside::crash
