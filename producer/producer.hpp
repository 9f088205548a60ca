// SPDX-License-Identifier: BSD-3-Clause
// The pipeline's side of the loop in producer/solve_loop.hpp: the solver writes x_k directly into a buffer of the
// library (producer/run_writer.hpp), which then publishes x_k. Solver and library do not depend on each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/options/options.hpp"
#include "common/platform/pulse.hpp"
#include "include/ringside.h"
#include "producer/matrix/array.hpp"
#include "producer/run_writer.hpp"
#include "producer/solve_loop.hpp"

namespace ringside {

/// Two private payloads for step 0 and unpublished steps; pages that are never written cost no memory.
class PrivateIterates {
 public:
  PrivateIterates(const Solver& solver, std::span<const VariablePlace> places)
      : first_(bytes_of(places)), second_(solver.may_overwrite_previous() ? 0 : first_.size()) {}

  void* start() noexcept { return first_.data(); }

  /// A place for step k while step k-1 is stored at `previous`.
  void* target(const void* previous) noexcept {
    return second_.empty() || previous != first_.data() ? first_.data() : second_.data();
  }

 private:
  /// The size is at least one byte, so that a process without rows also has a place.
  static std::size_t bytes_of(std::span<const VariablePlace> places) noexcept {
    return std::max<std::size_t>(places.back().offset + places.back().stored_bytes, 1);
  }

  Array<std::byte> first_;
  Array<std::byte> second_;
};

/// Runs iterations 1, 2, 3 ... of the solver, or the iterations after a kept run's iterate. Publishes each
/// `options.every`-th iterate and the last one. `stop` ends the run after the current iteration, whose iterate is
/// published.
class Producer : private IterateSink {
 public:
  /// Throws Error (exit code 3) if there is no room for the private iterates.
  Producer(const SolveRun& run, StepWriter& writer, WhenFull when_full, Pulse& pulse);

  /// kept: the step from which to continue. If this returns kAnalyzerGone, the writer has the reason. Throws Error if
  /// the kept step's variables cannot be copied.
  SolveEnd run(const std::optional<ContinuedStep>& kept = std::nullopt);

 private:
  void* place(std::uint64_t k, bool due, const void* previous) noexcept override;
  void take(const FinishedIterate& iterate) noexcept override;
  SolveEnd finish(const FinishedIterate& last, SolveEnd how) noexcept override;

  std::optional<SolveEnd> already_ended(std::uint64_t iteration, const Change& change) noexcept;
  bool claim() noexcept;
  void publish(const FinishedIterate& iterate) noexcept;
  void take_counts() noexcept;
  SolveEnd publish_last(const FinishedIterate& last, SolveEnd how) noexcept;

  const SolveRun run_;
  StepWriter& writer_;
  WhenFull when_full_;
  Pulse& pulse_;
  PrivateIterates private_iterates_;
  std::vector<ringside_value> scalars_;  // the scalars of the step that is published
  ringside_status claim_status_ = RINGSIDE_OK;
  bool in_buffer_ = false;  // whether the present iterate is in a buffer of the hand-off
  bool published_ = true;   // the newest iterate is published; x_0 is no step, and a kept iterate is in the ring
  bool was_full_ = false;   // no buffer was free for the newest iterate: it is skipped unless it is the last
  std::int64_t generate_unpublished_ns_ = 0;  // generate time since the last published step
};

}  // namespace ringside
