// SPDX-License-Identifier: BSD-3-Clause
// The producer's side of a run: a solver that writes its iterates in turn into buffers shared with a reader. The reader
// has its own mapping, as the analyzer has. A reader in another thread holds the buffer that it reads; the source never
// writes to that buffer. A buffer holds all variables of a step.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/handoff/handoff_layout.hpp"
#include "common/handoff/shared_mapping.hpp"
#include "producer/solver/solver.hpp"

namespace ringside {

class IterateSource {
 public:
  /// solver: must outlive this object. Of three buffers, the solver reads one and writes the next, and the reader holds
  /// the third. Throws Error (exit code 3) if there is no memory.
  explicit IterateSource(Solver& solver);

  /// `team` makes the following iterations and must outlive them.
  void share_among(Team& team) { solver_.share_among(team); }

  /// Makes the next iterate. two_buffers: use the double buffer of a run; only while the reader holds no buffer. If the
  /// solver breaks down, the next iterate is the first one again.
  void iterate(bool two_buffers) noexcept;

  /// Whether the solver has broken down (Solver::breakdown). Call in the thread that iterates, or after it has ended.
  bool has_broken_down() const noexcept { return broken_down_; }

  /// After a run's default number of iterations, restarts at the first iterate. It does so because the work of the
  /// reductions depends on the iterates' values.
  void begin_again_when_due() noexcept;

  /// The number of iterates that this source has made.
  std::uint64_t made() const noexcept { return newest_.load() / kBuffers; }

  struct Held {
    const double* payload = nullptr;  // the step's variables; the first is x
    std::uint64_t number = 0;         // the iterate's number: the value of `made` when it was the newest
  };
  /// For the reader: the newest iterate, which remains unchanged until the next `hold` or `let_go`.
  Held hold() noexcept;
  void let_go() noexcept { held_.store(kNone); }

  const Solver& solver() const noexcept { return solver_; }

 private:
  static constexpr std::uint32_t kBuffers = 3;
  static constexpr std::uint32_t kNone = kBuffers;

  double* buffer(std::uint32_t index) const noexcept;
  const double* as_read(std::uint32_t index) const noexcept;
  std::uint32_t newest_buffer() const noexcept { return static_cast<std::uint32_t>(newest_.load() % kBuffers); }
  std::uint32_t other_buffer() const noexcept;
  void begin() noexcept;

  Solver& solver_;
  PayloadGeometry geometry_;
  SharedMapping memory_;
  SharedMapping readers_;
  std::uint64_t iteration_ = 0;  // counted from the solver's beginning
  bool broken_down_ = false;
  // 64: these members have separate cache lines, because two threads write them.
  alignas(64) std::atomic<std::uint64_t> newest_{0};  // iterates made, times kBuffers, and the newest one's buffer
  alignas(64) std::atomic<std::uint32_t> held_{kNone};
};

}  // namespace ringside
