// SPDX-License-Identifier: BSD-3-Clause
// Two groups of threads that copy side by side, each thread its own two arrays, from a tier to a tier (thesis, 5.4).
// After one barrier at the start no thread waits for another.
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

/// The repeats [first, last), from 0.
struct CountedRepeats {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// As the thesis: not the first 25 (NVDIMM starts slowly), not the last third (threads end at different times). Of
/// fewer than 100 repeats not the first quarter; of one or two all count.
CountedRepeats counted_repeats(std::size_t repeats) noexcept;

/// As the early text: the first repeat alone, then five windows one after the other, from the first repeat on: the
/// fifths of the first 100 repeats (1 to 20 ... 81 to 100), or of all if there are fewer. Fewer than ten repeats: the
/// first repeat is a window once, and then come those fifths after it that have a repeat.
std::vector<CountedRepeats> repeat_windows(std::size_t repeats);

struct CopyGroup {
  Tier from;
  Tier to;
  std::vector<int> cpus;  // none: the group does not exist
};

struct GroupRate {
  Measured gb_s;                    // of all threads together, counted: 16 bytes an element
  std::vector<double> thread_gb_s;  // mean over the counted repeats
  GroupTimes times;
};

/// bytes: counted, of one repeat of one thread. The value is the sum over threads of bytes over the mean time of the
/// counted repeats; the spread is that of the sums over threads of the single repeats' rates.
GroupRate rate_of_group(const GroupTimes& times, double bytes);

/// The sum over threads of bytes over the mean time of these repeats, in GB/s.
double rate_in_window(const GroupTimes& times, double bytes, const CountedRepeats& window) noexcept;

/// Each thread copies `elements` doubles with plain stores, at least `repeats` times. Throws Error (exit code 3).
std::vector<GroupRate> run_competition(const std::vector<CopyGroup>& groups, std::uint64_t elements, int repeats);

/// All threads of all groups, in the order of the groups, with the start of the first repeat as origin.
std::vector<ThreadRates> rates_of_threads(const std::vector<GroupRate>& groups, double bytes);

/// What these threads together copy over time, in `windows` equal windows from the origin to the last end: pairs of the
/// window's middle in seconds and GB/s. A repeat's bytes are taken to be copied evenly over its time.
std::vector<std::pair<double, double>> rate_over_time(std::span<const ThreadRates> threads, double bytes,
                                                      std::size_t windows);

}  // namespace ringside
