// SPDX-License-Identifier: BSD-3-Clause
// Determines whether the run that a pool keeps has ended, so that a follower need not wait for further steps. The pool
// itself does not contain this information. The end is recorded in the journal beside the pool, or is assumed if no
// process owns the pool for a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "common/journal/journal_reader.hpp"

namespace ringside::library {

/// The state of a run, for a follower that has received every step so far.
enum class RunState {
  kGoesOn,  // the run continues, or its end is not known
  kEnded,   // the journal records the end
  kLeft     // no process has owned the pool for kOwnerless, and the journal records no end
};

class RunEnd {
 public:
  using Clock = std::chrono::steady_clock;

  /// The time without an owner after which the run counts as left. After this time, a killed analyzer would have a
  /// successor.
  static constexpr std::chrono::seconds kOwnerless{5};

  /// pool: an absolute path.
  explicit RunEnd(std::string pool) : pool_(std::move(pool)) {}

  /// Call this function only while there is no further step. It checks the pool's owner and the journal at most every
  /// 100 ms, and less often if no step comes for a longer time. Between two checks, it returns the last result.
  RunState state(Clock::time_point now);

  /// Call this function when a step has come. Earlier findings then no longer count.
  void step_came() noexcept {
    state_ = RunState::kGoesOn;
    pause_ = kFirstPause;
    ownerless_since_.reset();
  }

 private:
  static constexpr std::chrono::milliseconds kFirstPause{100};
  static constexpr std::chrono::milliseconds kLongestPause{1000};

  RunState look(Clock::time_point now);
  void read_journal();
  bool is_ownerless() const;

  std::string pool_;
  std::optional<JournalReader> journal_;
  std::chrono::milliseconds pause_ = kFirstPause;
  std::optional<Clock::time_point> last_look_;
  std::optional<Clock::time_point> ownerless_since_;
  std::uint64_t seen_seq_ = 0;  // the newest record that was read
  bool ended_ = false;          // whether the run has ended, according to the newest record about a run
  RunState state_ = RunState::kGoesOn;
};

}  // namespace ringside::library
