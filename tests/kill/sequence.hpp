// SPDX-License-Identifier: BSD-3-Clause
// An iteration whose k-th iterate can be computed without the earlier iterates. No error remains hidden: one wrong bit
// in x_{k-1} makes every later iterate wrong. Each row is a separate linear congruential generator, kept in a double.
#pragma once

#include <cstdint>

namespace ringside::testing {

inline constexpr std::uint32_t kMultiplier = 1664525;  // Numerical Recipes' generator, modulo 2^32
inline constexpr std::uint32_t kIncrement = 1013904223;

/// Row `row` of x_0.
inline double first_value(std::uint64_t row) {
  return static_cast<double>(static_cast<std::uint32_t>(row) * 2654435761u);
}

/// Row i of x_k from row i of x_{k-1}.
inline double next_value(double previous) {
  return static_cast<double>(static_cast<std::uint32_t>(previous) * kMultiplier + kIncrement);
}

/// The effect of k iterations on a row: x_k = multiplier * x_0 + increment.
struct Jump {
  std::uint32_t multiplier = 1;
  std::uint32_t increment = 0;

  explicit Jump(std::uint64_t k) {
    std::uint32_t power_multiplier = kMultiplier;
    std::uint32_t power_increment = kIncrement;
    for (; k != 0; k >>= 1) {
      if ((k & 1) != 0) {
        multiplier *= power_multiplier;
        increment = increment * power_multiplier + power_increment;
      }
      power_increment = power_increment * power_multiplier + power_increment;
      power_multiplier *= power_multiplier;
    }
  }
  double operator()(double first) const {
    return static_cast<double>(static_cast<std::uint32_t>(first) * multiplier + increment);
  }
};

}  // namespace ringside::testing
