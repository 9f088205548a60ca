// SPDX-License-Identifier: BSD-3-Clause
// Random durations that depend only on the seed and on what they are for. The same step of the same node always takes
// equally long, so two simulations can be compared.
#pragma once

#include <cmath>
#include <cstdint>

namespace ringside {

/// Kinds of work; each kind has its own random numbers.
enum class Work : std::uint64_t { kGenerate, kTransfer, kAnalyze };

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}

  /// The longest of `count` pieces of work. Each piece takes (1 - spread) * mean_s plus an exponentially distributed
  /// time with the mean `spread * mean_s`. So the mean of a piece is mean_s, and its standard deviation is spread *
  /// mean_s.
  double longest(Work work, std::uint32_t node, std::uint64_t number, double mean_s, double spread, int count) const {
    if (spread <= 0) return mean_s;
    // The longest of n exponential times is below t with probability (1 - exp(-t))^n.
    const double beyond = -std::log(-std::expm1(std::log(uniform(work, node, number)) / count));
    return mean_s * (1 - spread + spread * beyond);
  }

 private:
  /// A number above 0 and below 1. mixed() is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
  double uniform(Work work, std::uint32_t node, std::uint64_t number) const {
    const std::uint64_t what = mixed(seed_ ^ mixed(static_cast<std::uint64_t>(work) << 32 | node));
    return (static_cast<double>(mixed(what + number) >> 12) + 0.5) * 0x1p-52;
  }
  static std::uint64_t mixed(std::uint64_t word) {
    word += 0x9e3779b97f4a7c15;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
  }

  std::uint64_t seed_;
};

}  // namespace ringside
