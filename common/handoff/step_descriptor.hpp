// SPDX-License-Identifier: BSD-3-Clause
// The producer's description of one published step. The analyzer receives it together with the iterate
// (docs/formats/handoff_protocol.md), and the ring stores both together (docs/formats/ring_format.md). The descriptor
// fits into one cache line, so that only one line is transferred.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ringside {

struct StepDescriptor {
  std::uint64_t step = 0;  // the number of the step within one attachment, from 0
  std::uint64_t iteration = 0;
  double residual_l1 = 0;  // scalars 0 and 1: for the built-in solvers, the change in this iteration
  double residual_linf = 0;
  std::int64_t generate_ns = 0;       // the time taken to make the iterates since the previous step
  std::int64_t producer_idle_ns = 0;  // the time spent waiting for this step's buffer
  std::int64_t published_at_ns = 0;   // CLOCK_MONOTONIC, just before `published` was stored
  std::uint64_t skipped_before = 0;   // the number of steps dropped since the previous step, because no buffer was free
};
/// A step's first two scalars are in the descriptor, and the others follow it.
inline constexpr std::uint32_t kDescriptorScalars = 2;
inline constexpr std::uint32_t kMostFurtherScalars = 64;

static_assert(sizeof(StepDescriptor) == 64 && std::is_trivially_copyable_v<StepDescriptor>);
static_assert(offsetof(StepDescriptor, iteration) == 8 && offsetof(StepDescriptor, residual_l1) == 16);
static_assert(offsetof(StepDescriptor, skipped_before) == 56);

/// A step with all of its scalars. Words without a scalar are 0; the ring stores as many words as it has room for.
struct StepWithScalars {
  StepDescriptor descriptor;
  std::uint64_t further[kMostFurtherScalars] = {};

  std::uint64_t scalar(std::size_t index) const noexcept {
    if (index == 0) return std::bit_cast<std::uint64_t>(descriptor.residual_l1);
    if (index == 1) return std::bit_cast<std::uint64_t>(descriptor.residual_linf);
    return further[index - kDescriptorScalars];
  }
  void set_scalar(std::size_t index, std::uint64_t word) noexcept {
    if (index == 0) {
      descriptor.residual_l1 = std::bit_cast<double>(word);
    } else if (index == 1) {
      descriptor.residual_linf = std::bit_cast<double>(word);
    } else {
      further[index - kDescriptorScalars] = word;
    }
  }
};
static_assert(sizeof(StepWithScalars) == 64 + 512 && std::is_trivially_copyable_v<StepWithScalars>);

}  // namespace ringside
