// SPDX-License-Identifier: BSD-3-Clause
// Whether the run that a pool keeps has ended, so that a follower need not wait for more. The pool itself does not say
// it; the journal beside the pool does, and so does a pool that no process owns.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ringside::library {

class RunEnd {
 public:
  using Clock = std::chrono::steady_clock;

  /// How long a pool may have no owner before that is the end: a killed analyzer has a successor by then.
  static constexpr std::chrono::seconds kOwnerless{5};

  explicit RunEnd(std::string pool) : pool_(std::move(pool)) {}

  /// Call it only while there is no further step. Looks at the pool's owner and at the journal at most every 100 ms,
  /// and less often the longer nothing comes, because it reads the journal anew; in between it returns false.
  bool has_come(Clock::time_point now);

  /// A step came: the next look may be soon.
  void step_came() noexcept { pause_ = kFirstPause; }

 private:
  static constexpr std::chrono::milliseconds kFirstPause{100};
  static constexpr std::chrono::milliseconds kLongestPause{1000};

  void read_journal();
  bool is_owned() const;

  std::string pool_;
  std::chrono::milliseconds pause_ = kFirstPause;
  Clock::time_point next_look_{};        // the first look is at once
  Clock::time_point ownerless_since_{};  // the epoch: it is owned, or was not looked at
  std::uint64_t seen_seq_ = 0;           // of the newest record that was read
  bool ended_ = false;                   // says the newest record about a run
};

}  // namespace ringside::library
