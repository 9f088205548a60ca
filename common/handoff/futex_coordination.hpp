// SPDX-License-Identifier: BSD-3-Clause
// `--coordination locks`: a futex on the peer's counter itself. A notification only wakes the other side, which then
// loads the counter.
#pragma once

#include "common/handoff/coordination.hpp"

namespace ringside {

class FutexCoordination final : public Coordination {
 public:
  using Coordination::Coordination;

  /// Wakes every thread that sleeps on this side's counter, in any process.
  void announce() noexcept override;
  std::uint64_t seen() noexcept override { return other_.load(std::memory_order_acquire); }

 private:
  std::uint64_t seen_at_last() noexcept override { return seen(); }
  void sleep(std::uint64_t seen, std::int64_t at_most_ns) noexcept override;
  void relax() noexcept override;
};

}  // namespace ringside
