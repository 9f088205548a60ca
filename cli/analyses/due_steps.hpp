// SPDX-License-Identifier: BSD-3-Clause
// How many steps an analysis missed: of steps that the ring has overwritten only the number is known, by their
// commit_seq. Their iterations are taken to be evenly spaced. python/ringside/analyze.py counts gaps in the same way.
#pragma once

#include <cstdint>

namespace ringside {

/// Where a step is in its run.
struct StepPlace {
  std::uint64_t commit_seq = 0;
  std::uint64_t iteration = 0;
};

/// How many of the steps after `before`, up to `last` and with it, have an iteration that is a multiple of `every`.
std::uint64_t due_steps(const StepPlace& before, const StepPlace& last, std::uint64_t every) noexcept;

}  // namespace ringside
