// SPDX-License-Identifier: BSD-3-Clause
// How many victims the analyzer locks with one call, and for how long (docs/inside/library.md, "Lease windows"). Each
// step needs the lease of its slot, and a pair of lock calls takes a quarter of the time of a small step. While steps
// follow each other without a pause, a *window* of several slots costs one pair of calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ringside {

/// One thread uses an object. All times are CLOCK_MONOTONIC.
class LeaseWindow {
 public:
  static constexpr std::uint32_t kMostSlots = 16;
  // Readers cannot hold the newest steps during a window. A follower looks for steps at such intervals at the shortest.
  static constexpr std::int64_t kLongestNs = 50'000;
  // After a reader's lease was found: there are readers, so that no step is locked for longer than its commit needs.
  static constexpr std::int64_t kQuietNs = 1'000'000'000;
  static constexpr std::uint32_t kStepsBetweenLooks = 64;

  /// slots: of the ring, at least three. Half of the slots that may be overwritten remain for readers.
  explicit LeaseWindow(std::uint32_t slots) noexcept : most_(std::clamp((slots - 2) / 2, 1u, kMostSlots)) {}

  /// Call once for each step after which the next one waits. Returns whether to look for leases of readers now: at the
  /// first step, and then at every 64th. Looking costs a third of a pair of lock calls.
  bool step_ended(std::int64_t now_ns) noexcept {
    step_ns_ = now_ns - std::exchange(step_ended_ns_, now_ns);
    return steps_++ % kStepsBetweenLooks == 0;
  }

  void lease_seen(std::int64_t now_ns) noexcept { quiet_until_ns_ = now_ns + kQuietNs; }

  /// The number of slots to lock: as many as steps of the last step's duration fit into a window.
  std::uint32_t slots(std::int64_t now_ns) const noexcept {
    if (now_ns < quiet_until_ns_) return 1;
    const std::int64_t steps = kLongestNs / std::max<std::int64_t>(step_ns_, 1);
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(steps, 1, most_));
  }

  void begin(std::int64_t now_ns) noexcept { begun_ns_ = now_ns; }
  bool lasts(std::int64_t now_ns) const noexcept { return now_ns - begun_ns_ < kLongestNs; }

 private:
  const std::uint32_t most_;
  std::uint64_t steps_ = 0;
  std::int64_t step_ended_ns_ = 0;
  std::int64_t step_ns_ = kLongestNs;  // the duration of the last step, with the wait for it
  std::int64_t quiet_until_ns_ = 0;
  std::int64_t begun_ns_ = 0;
};

}  // namespace ringside
