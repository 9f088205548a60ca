// SPDX-License-Identifier: BSD-3-Clause
// Sudden drops in the speed of a thread that copies beside others. The thesis identified them by eye: threads that
// write to NVDIMM fall from 3000 to 1700 MB/s or from 3800 to 1900 for a while, and one that reads it varies between
// 3000 and 3600. The rule here (a rate below 0.75 of the thread's own median) detects the first two but not the third.
#pragma once

#include <cstddef>
#include <vector>

namespace ringside {

inline constexpr double kDropLimit = 0.75;

/// The repeats of one thread, in order; all threads' times have one origin.
struct ThreadRates {
  std::vector<double> end_s;
  std::vector<double> seconds;
  std::vector<double> gb_s;
};

/// A sequence of slow repeats.
struct SpeedDrop {
  std::size_t first = 0;  // its first repeat
  std::size_t repeats = 0;
  double begin_s = 0;
  double end_s = 0;
  double depth = 0;        // the slowest repeat's rate ÷ the level: 0.5 is half the speed
  bool coincides = false;  // whether another thread has a drop at the same time
};

struct ThreadDrops {
  double level_gb_s = 0;  // the median of the considered repeats
  double least = 1;       // the rate of the slowest of these repeats ÷ the level
  std::vector<SpeedDrop> drops;
};

/// Finds the drops of each thread. Considers the repeats from `warm_up` on that ended before the first thread finished:
/// afterwards the remaining threads get faster. A thread without such a repeat has level 0 and no drop.
std::vector<ThreadDrops> find_speed_drops(const std::vector<ThreadRates>& threads, std::size_t warm_up,
                                          double limit = kDropLimit);

}  // namespace ringside
