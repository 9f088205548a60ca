// SPDX-License-Identifier: BSD-3-Clause
// The only source of random numbers here: splitmix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number
// Generators", 2014). The same seed gives the same images with every compiler and library, which the distributions of
// the standard library do not promise.
#pragma once

#include <cstdint>

namespace ringside::crash {

constexpr std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  /// A generator for one part of the choices that `seed` decides; its numbers depend on both arguments.
  Random(std::uint64_t seed, std::uint64_t part) noexcept
      : state_(mixed(seed + 1) ^ mixed(part + 0x2545f4914f6cdd1d)) {}

  std::uint64_t next() noexcept { return mixed(state_ += 0x9e3779b97f4a7c15); }
  /// Returns 0 … count - 1. `count` is small, so that the bias of the remainder does not matter.
  std::uint64_t below(std::uint64_t count) noexcept { return next() % count; }
  bool one_in(std::uint64_t count) noexcept { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace ringside::crash
