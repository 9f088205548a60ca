// SPDX-License-Identifier: BSD-3-Clause
// The producer's description of one published step. It crosses the process boundary beside the iterate
// (docs/handoff_protocol.md) and stays beside it in the ring (docs/ring_format.md). It is one cache line, so that it
// costs only one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ringside {

struct StepDescriptor {
  std::uint64_t step = 0;  // publish sequence number within one attachment
  std::uint64_t iteration = 0;
  double residual_l1 = 0;  // the change in this iteration: decides whether the run had converged
  double residual_linf = 0;
  std::int64_t generate_ns = 0;       // making the iterates since the previous step
  std::int64_t producer_idle_ns = 0;  // waiting for this step's buffer
  std::int64_t published_at_ns = 0;   // CLOCK_MONOTONIC, just before `published` was stored
  std::uint64_t skipped_before = 0;   // steps dropped since the previous step, because no buffer was free
};
static_assert(sizeof(StepDescriptor) == 64 && std::is_trivially_copyable_v<StepDescriptor>);
static_assert(offsetof(StepDescriptor, iteration) == 8 && offsetof(StepDescriptor, residual_l1) == 16);
static_assert(offsetof(StepDescriptor, skipped_before) == 56);

}  // namespace ringside
