// SPDX-License-Identifier: BSD-3-Clause
// Computes how many steps an analysis missed. For steps that the ring has overwritten, only their number is known, from
// commit_seq. Their iterations are assumed to be evenly spaced. python/ringside/analyze.py counts gaps in the same way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace ringside {

/// The place of a step in its run.
struct StepPlace {
  std::uint64_t commit_seq = 0;
  std::uint64_t iteration = 0;
};

/// The number of steps after `before`, up to and including `last`, whose iteration is a multiple of `every`.
inline std::uint64_t due_steps(const StepPlace& before, const StepPlace& last, std::uint64_t every) noexcept {
  if (last.commit_seq <= before.commit_seq) return 0;
  const std::uint64_t steps = last.commit_seq - before.commit_seq;
  const std::uint64_t distance = last.iteration - std::min(before.iteration, last.iteration);
  const std::uint64_t stride = distance > 0 && distance % steps == 0 ? distance / steps : 1;
  const std::uint64_t first = last.iteration - std::min(stride * (steps - 1), last.iteration);
  const std::uint64_t period = every / std::gcd(stride, every);  // the number of steps from one due step to the next
  std::uint64_t begin = 0;
  while (begin < std::min(period, steps) && (first + stride * begin) % every != 0) ++begin;
  return begin < std::min(period, steps) ? (steps - begin - 1) / period + 1 : 0;
}

}  // namespace ringside
