// SPDX-License-Identifier: BSD-3-Clause
// Iterates of every kind that the reductions treat differently, with every size for which the code takes a different
// path.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "common/reductions/kernels/reduction_kernel.hpp"
#include "common/reductions/reduction.hpp"
#include "common/reductions/reduction_words.hpp"

namespace ringside {

using Vector = std::vector<double>;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline std::size_t block_rows() {
  return kReductionBlockRows;
}

/// Sizes around every boundary in the loops: registers, running sums, blocks.
inline std::vector<std::size_t> sizes() {
  const std::size_t block = block_rows();
  return {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 100, block - 1, block, block + 1, 3 * block + 5, 20 * block + 31};
}

struct Case {
  std::string name;
  Vector x;
  Vector previous;

  const double* before() const { return previous.empty() ? nullptr : previous.data(); }
};

inline Vector random_vector(std::size_t rows, double low, double high, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Vector x(rows);
  for (double& value : x) value = uniform(generator);
  return x;
}

/// Values whose magnitudes extend over many octaves, so that every bin of the histogram gets some; with both signs if
/// `mixed`.
inline Vector wide_vector(std::size_t rows, bool mixed, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> octave(-70, 10);
  Vector x(rows);
  for (double& value : x) {
    value = std::exp2(octave(generator));
    if (mixed && generator() % 2 == 0) value = -value;
  }
  return x;
}

inline Vector ramp(std::size_t rows, double first, double step) {
  Vector x(rows);
  for (std::size_t row = 0; row < rows; ++row) x[row] = first + step * static_cast<double>(row);
  return x;
}

inline std::vector<Case> finite_cases() {
  std::vector<Case> cases;
  for (std::size_t rows : sizes()) {
    const std::string size = std::to_string(rows) + " rows, ";
    cases.push_back({size + "uniform", random_vector(rows, 0, 1, 1), random_vector(rows, 0, 1, 2)});
    cases.push_back({size + "no previous", random_vector(rows, 0, 1, 3), {}});
    cases.push_back({size + "negative", random_vector(rows, -9, -1, 4), random_vector(rows, -9, 9, 5)});
    cases.push_back({size + "mixed signs", random_vector(rows, -1, 1, 6), random_vector(rows, -1, 1, 7)});
    cases.push_back({size + "many octaves", wide_vector(rows, false, 8), wide_vector(rows, false, 9)});
    cases.push_back({size + "many octaves, mixed signs", wide_vector(rows, true, 10), wide_vector(rows, true, 11)});
    cases.push_back({size + "one bin", random_vector(rows, 1.01, 1.02, 12), random_vector(rows, 1.01, 1.02, 13)});
    cases.push_back({size + "few bins", random_vector(rows, 1.1, 2.1, 14), random_vector(rows, -2.1, -1.1, 15)});
    cases.push_back({size + "constant", Vector(rows, 0.1), Vector(rows, 0.1)});
    cases.push_back({size + "zeros", Vector(rows, 0.0), Vector(rows, -0.0)});
    cases.push_back({size + "denormals", Vector(rows, 5e-324), Vector(rows, -5e-324)});
    cases.push_back({size + "ascending", ramp(rows, -3, 0.5), ramp(rows, 0, 1)});
    cases.push_back({size + "descending", ramp(rows, 3, -0.5), ramp(rows, 0, -1)});
  }
  return cases;
}

/// The record has no padding, so that equal bytes mean equal bits in every member, including NaN.
inline bool bit_equal(const Reductions& a, const Reductions& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace ringside
