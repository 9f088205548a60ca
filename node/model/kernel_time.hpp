// SPDX-License-Identifier: BSD-3-Clause
// The time of one kernel, alone and while other kernels run (docs/inside/model.md, "Time of a kernel"). A kernel spends
// time in the core and time on moving bytes. These two times overlap in part; q is the exponent of the overlap: 1 is no
// overlap, infinity is complete overlap.
#pragma once

#include <span>
#include <vector>

#include "node/model/node.hpp"
#include "node/model/sharing.hpp"

namespace ringside {

/// (a^q + b^q)^(1/q); a and b must not be negative.
double soft_sum(double a, double b, double q) noexcept;

/// Seconds with `threads` threads (at least 1): a power law between two points, constant beyond the last point (no
/// speed-up beyond the measured thread count), and proportional below the first one.
double seconds_at(const Series& seconds, int threads);

/// The minimum of all points.
double least_seconds(const Series& seconds) noexcept;

/// One execution of a kernel with a given number of threads.
struct KernelTime {
  int threads = 0;
  double alone_s = 0;
  std::vector<double> bytes;  // moved through each group of channels
};

/// Seconds while other kernels also run, if each of the kernel's n threads can move share_bytes_s[g] bytes per second
/// through the channels g: (alone^q + sum_g (bytes_g / (n share_g))^q - sum_g (bytes_g / capacity_g)^q)^(1/q).
double shared_seconds(const KernelTime& kernel, std::span<const double> share_bytes_s,
                      std::span<const double> capacity_bytes_s, double q) noexcept;

/// Seconds of two kernels that always run side by side.
struct Together {
  double first_s = 0;
  double second_s = 0;
};
Together together(const KernelTime& first, const KernelTime& second, std::span<const double> capacity_bytes_s, double q,
                  Sharing sharing = Sharing::kMaxMin);

/// The exponent q that best fits the rates of `streams` over their threads: per thread (d^-q + (C/n)^-q)^(-1/q), with d
/// the rate of one thread, n the number of threads and C the highest rate. A series with fewer than four points does
/// not determine q. If every series is shorter, q is 3.
double fit_exponent(std::span<const Series> streams);

/// The exponent of all STREAM kernels in the first tier of the node.
double exponent_in_dram(const Node& node);

}  // namespace ringside
