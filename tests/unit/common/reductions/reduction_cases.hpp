// SPDX-License-Identifier: BSD-3-Clause
// Iterates of every kind that the reductions treat separately, with every size at which they take another path; and how
// what is found is compared with the serial oracle.
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

/// Around every boundary the pass has: registers, running sums, blocks.
inline std::vector<std::size_t> sizes() {
  const std::size_t block = block_rows();
  return {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 100, block - 1, block, block + 1, 3 * block + 5, 20 * block + 31};
}

struct Case {
  std::string name;
  Vector x;
  Vector previous;
};

inline Vector random_vector(std::size_t rows, double low, double high, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Vector x(rows);
  for (double& value : x) value = uniform(generator);
  return x;
}

/// Magnitudes over many octaves, both signs if `mixed`: every bin of the histogram is hit.
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

/// A sum of terms of magnitude `magnitude_sum` in total. Within a block, additions are at most 64 + 4 deep, and each
/// is wrong by at most 2^-53 of its result. Across blocks the sum is compensated: one rounding. 96 * 2^-53 leaves room
/// for the rounding of the terms themselves (squares, differences).
inline void expect_sum(double found, double expected, double magnitude_sum) {
  if (!std::isfinite(expected)) {
    EXPECT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << found << " for " << expected;
    return;
  }
  EXPECT_LE(std::fabs(found - expected), 96 * 0x1p-53 * magnitude_sum) << found << " for " << expected;
}

/// A norm made of squares: those of entries below 1e-154 may vanish (docs/inside/kernels.md).
inline void expect_l2(double found, double expected) {
  if (expected > 1e-150) {
    expect_sum(found, expected, expected);
  } else {
    if (!std::isfinite(expected)) {
      EXPECT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << found << " for " << expected;
      return;
    }
    EXPECT_LE(std::fabs(found - expected), 1e-150);
  }
}

inline void expect_equal_to_reference(const Reductions& found, const Reductions& expected) {
  EXPECT_EQ(found.rows, expected.rows);
  expect_sum(found.sum, expected.sum, expected.l1);
  expect_sum(found.mean, expected.mean, expected.l1 / static_cast<double>(expected.rows));
  expect_sum(found.l1, expected.l1, expected.l1);
  expect_l2(found.l2, expected.l2);
  expect_sum(found.change_l1, expected.change_l1, expected.change_l1);
  expect_l2(found.change_l2, expected.change_l2);
  EXPECT_EQ(found.min, expected.min);
  EXPECT_EQ(found.max, expected.max);
  EXPECT_EQ(found.linf, expected.linf);
  EXPECT_EQ(found.has_change, expected.has_change);
  EXPECT_TRUE(found.change_linf == expected.change_linf || (std::isnan(found.change_linf) && std::isnan(expected.change_linf)))
      << found.change_linf << " for " << expected.change_linf;
  EXPECT_EQ(found.non_finite, expected.non_finite);
  for (std::size_t bin = 0; bin < kHistogramBins; ++bin) {
    EXPECT_EQ(found.histogram[bin], expected.histogram[bin]) << "bin " << bin;
  }
  ASSERT_EQ(found.top_count, expected.top_count);
  for (std::size_t i = 0; i < found.top_count; ++i) {
    EXPECT_EQ(found.top[i].row, expected.top[i].row) << "top " << i;
    EXPECT_EQ(found.top[i].value, expected.top[i].value) << "top " << i;
  }
}

/// What a kernel finds of a field of f64.
inline Reductions finished(const ReductionKernel& kernel, const void* state, const double* block_sums,
                           std::uint64_t rows, bool has_change) {
  std::vector<std::uint64_t> words(1 + kRealFieldWords, 77);
  words[0] = kernel.finish(state, block_sums, rows, has_change, nullptr, &words[1]);
  return to_reductions(words, rows);
}

/// The record has no padding, so equal bytes are equal bits of every field, NaN included.
inline bool bit_equal(const Reductions& a, const Reductions& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace ringside
