// SPDX-License-Identifier: BSD-3-Clause
// The cost of the analyzer's work to the solver. Iterations and steps run side by side, as in a run. The measured times
// give the time of an iteration during which the analyzer works from beginning to end (docs/use/plan.md, "Pairs").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ringside {

/// Work from `begun_ns` to `ended_ns` (now_ns).
struct WorkSpan {
  std::int64_t begun_ns = 0;
  std::int64_t ended_ns = 0;
};

/// For each iteration, the seconds during which one of `steps` was in progress. Both lists ascend in time, without
/// overlaps within a list.
std::vector<double> overlaps_s(std::span<const WorkSpan> iterations, std::span<const WorkSpan> steps);

/// Seconds of an iteration during which the other side works from beginning to end: alone_s / (1 - loss). loss is the
/// iteration's additional time per second of overlap, limited to -0.25 (noise) up to 0.95. took_s: the measured seconds
/// of an iteration during which the other side worked for overlap_s. overlap_s must be above 0.
double seconds_beside(double alone_s, double took_s, double overlap_s) noexcept;

/// Computes the same from two medians: over the iterations in `alone` (at least one), and over those iterations in
/// `beside` whose overlap is at least half the median overlap of all iterations that overlapped steps. In the other
/// iterations, a step only began or ended, or waited for a disk. Empty if no iteration overlapped a step.
std::optional<double> median_beside(std::span<const WorkSpan> alone, std::span<const WorkSpan> beside,
                                    std::span<const WorkSpan> steps);

}  // namespace ringside
