// SPDX-License-Identifier: BSD-3-Clause
// What the analyzer's work costs the solver: from iterations and steps that ran side by side, as in a run, to the
// seconds of an iteration that has the other side at work from its beginning to its end (docs/use/plan.md, "Pairs").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ringside {

/// Work that was done from `begun_ns` to `ended_ns` (now_ns).
struct WorkSpan {
  std::int64_t begun_ns = 0;
  std::int64_t ended_ns = 0;
};

/// For each iteration, the seconds during which one of `steps` was at work. Both ascend in time, and none of either
/// overlap each other.
std::vector<double> overlaps_s(std::span<const WorkSpan> iterations, std::span<const WorkSpan> steps);

/// Seconds of an iteration wholly beside the other side: alone_s / (1 - loss), where loss is what an iteration took
/// longer than alone for each second of overlap, between a quarter less than nothing (noise) and 0.95. took_s: an
/// iteration that had the other side at work for overlap_s of its seconds. overlap_s must be above 0.
double seconds_beside(double alone_s, double took_s, double overlap_s) noexcept;

/// The same, from medians: of `alone`, at least one iteration, and of those of `beside` that met steps for at least
/// half as long as the median of those that met any. In the others a step only began or ended, or waited for a disk.
/// Nothing if no step was at work meanwhile.
std::optional<double> median_beside(std::span<const WorkSpan> alone, std::span<const WorkSpan> beside,
                                    std::span<const WorkSpan> steps);

}  // namespace ringside
