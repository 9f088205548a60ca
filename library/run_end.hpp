// SPDX-License-Identifier: BSD-3-Clause
// Whether the run that a pool keeps has ended, so that a follower need not wait for more. The pool itself does not say
// it; the journal beside the pool does, and so does a pool that no process owns.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "common/journal/journal_reader.hpp"

namespace ringside::library {

/// What a follower that has seen every step may expect.
enum class RunState {
  kGoesOn,  // as far as can be told
  kEnded,   // the journal says so
  kLeft     // no process has owned the pool for kOwnerless, and the journal does not say that the run has ended
};

class RunEnd {
 public:
  using Clock = std::chrono::steady_clock;

  /// How long a pool may have no owner before that is the end: a killed analyzer has a successor by then.
  static constexpr std::chrono::seconds kOwnerless{5};

  /// pool: an absolute path.
  explicit RunEnd(std::string pool) : pool_(std::move(pool)) {}

  /// Call it only while there is no further step. Looks at the pool's owner and at the journal at most every 100 ms,
  /// and less often the longer nothing comes; in between the answer is the last one.
  RunState state(Clock::time_point now);

  /// A step came: what was found before no longer counts.
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
  std::uint64_t seen_seq_ = 0;  // of the newest record that was read
  bool ended_ = false;          // says the newest record about a run
  RunState state_ = RunState::kGoesOn;
};

}  // namespace ringside::library
