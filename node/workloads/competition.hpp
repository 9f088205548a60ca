// SPDX-License-Identifier: BSD-3-Clause
// Two groups of threads that copy side by side: each thread copies between two arrays of its own, from one tier to
// another or within one tier (thesis, 5.4). After one barrier at the start, no thread waits for another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "node/model/node.hpp"
#include "node/streams/thread_groups.hpp"
#include "node/workloads/speed_drops.hpp"

namespace ringside {

/// The repeats [first, last), counted from 0.
struct CountedRepeats {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// The repeats that are counted, as in the thesis: excludes the first 25 repeats (NVDIMM is slow at the beginning) and
/// the last third (threads end at different times). With fewer than 100 repeats, excludes the first quarter; one or two
/// repeats are all counted.
CountedRepeats counted_repeats(std::size_t repeats) noexcept;

/// The windows for which an earlier text of the thesis's author (docs/use/experiments.md, "Windows") has means: the
/// first repeat alone, then five successive windows from the first repeat on. These windows are the fifths of the first
/// 100 repeats (1 to 20 ... 81 to 100), or of all repeats if there are fewer. With fewer than ten repeats: the first
/// repeat once, then the later fifths that have a repeat.
std::vector<CountedRepeats> repeat_windows(std::size_t repeats);

struct CopyGroup {
  Tier from;
  Tier to;
  std::vector<int> cpus;  // none: the group does not exist
};

struct GroupRate {
  Measured gb_s;                    // the rate of all threads together in counted bytes, 16 per element
  std::vector<double> thread_gb_s;  // mean over the counted repeats
  GroupTimes times;
};

/// bytes: the counted bytes of one repeat of one thread. The value is the sum over threads of bytes ÷ the mean time of
/// the counted repeats. The spread is that of the rates of single repeats, summed over threads.
GroupRate rate_of_group(const GroupTimes& times, double bytes);

/// The sum over threads of bytes ÷ the mean time of these repeats, in GB/s.
double rate_in_window(const GroupTimes& times, double bytes, const CountedRepeats& window) noexcept;

/// Each thread copies `elements` doubles with plain stores, at least `repeats` times. Throws Error (exit code 3).
std::vector<GroupRate> run_competition(const std::vector<CopyGroup>& groups, std::uint64_t elements, int repeats);

/// The rates of all threads of all groups, in the order of the groups. Times are counted from the start of the first
/// repeat.
std::vector<ThreadRates> rates_of_threads(const std::vector<GroupRate>& groups, double bytes);

/// The rate of these threads together over time, in `windows` equal windows from the origin to the end of the last
/// repeat: pairs of the middle of the window, in seconds, and the rate in GB/s. Assumes that each repeat copies evenly
/// over its time.
std::vector<std::pair<double, double>> rate_over_time(std::span<const ThreadRates> threads, double bytes,
                                                      std::size_t windows);

}  // namespace ringside
