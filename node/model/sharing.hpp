// SPDX-License-Identifier: BSD-3-Clause
// How groups of threads share the bandwidth of memory channels: max-min fairness. A group that needs less than its fair
// share gets all it needs; the others share the rest (Bertsekas and Gallager, Data Networks, 6.5.2).
#pragma once

#include <span>
#include <vector>

namespace ringside {

/// The rate of a group of threads that runs alone.
struct Demand {
  int threads = 0;
  double bytes_s = 0;  // the rate of each of the group's threads
};

enum class Sharing {
  kMaxMin,
  kProportional  // C / P for each thread; unused shares are lost (for comparison only)
};

/// The highest rate of each thread of each group, in bytes per second, while all groups work: max(C / P, (C - sum of
/// the other groups' rates) / n), with C the capacity, P the number of all threads and n the number of the group's
/// threads. Groups without threads get C.
std::vector<double> shares(double capacity_bytes_s, std::span<const Demand> groups, Sharing sharing = Sharing::kMaxMin);

}  // namespace ringside
