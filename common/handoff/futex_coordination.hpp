// SPDX-License-Identifier: BSD-3-Clause
// `--coordination locks`: a futex on the peer's counter itself. A notification only wakes the other side, which then
// loads the counter. A side may tell that it is awake; its peer then makes no system call
// (docs/formats/handoff_protocol.md, "Waiting").
#pragma once

#include <atomic>
#include <cstdint>

#include "common/handoff/coordination.hpp"
#include "common/handoff/handoff_layout.hpp"

namespace ringside {

/// The words by which the sides tell whether they sleep (handoff_layout.hpp).
struct SleepWords {
  std::atomic<std::uint32_t>* own = nullptr;         // null: this side does not tell
  const std::atomic<std::uint32_t>* peer = nullptr;  // null: the peer is always woken
  // The peer's word counts only if these two have equal low halves; null: always.
  const std::atomic<std::uint32_t>* peer_epoch = nullptr;
  const std::atomic<std::uint64_t>* epoch = nullptr;

  bool peer_is_awake() const noexcept {
    if (peer->load(std::memory_order_relaxed) != kAwake) return false;
    return epoch == nullptr || peer_epoch->load(std::memory_order_relaxed) ==
                                   static_cast<std::uint32_t>(epoch->load(std::memory_order_relaxed));
  }
};

class FutexCoordination final : public Coordination {
 public:
  /// own, other: as in the constructor of Coordination; the words must outlive this object, too.
  FutexCoordination(const std::atomic<std::uint64_t>& own, const std::atomic<std::uint64_t>& other,
                    const SleepWords& words = {}) noexcept
      : Coordination(own, other), words_(words) {}

  /// Wakes every thread that sleeps on this side's counter, in any process, unless the peer tells that it is awake.
  void announce() noexcept override;
  void announce_state() noexcept override;
  std::uint64_t seen() noexcept override { return other_.load(std::memory_order_acquire); }

  /// How many sleeps lasted until their time was over although the peer's counter had grown: the peer did not wake this
  /// side, or was interrupted before it could.
  std::uint64_t missed_wakes() const noexcept { return missed_wakes_; }

 private:
  std::uint64_t seen_at_last() noexcept override { return seen(); }
  void sleep(std::uint64_t seen, std::int64_t at_most_ns) noexcept override;
  void relax() noexcept override;

  const SleepWords words_;
  std::uint64_t missed_wakes_ = 0;
};

}  // namespace ringside
