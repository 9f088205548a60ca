// SPDX-License-Identifier: BSD-3-Clause
#include "common/telemetry/latency_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace ringside {
namespace {

TEST(LatencyHistogramTest, WithoutSamplesEverythingIsZero) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentile(0.5), 0u);
  EXPECT_EQ(histogram.max(), 0u);
}

TEST(LatencyHistogramTest, APercentileIsNeverBelowTheSampleAndAtMostOneSixtyFourthAboveIt) {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> samples;
  LatencyHistogram histogram;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t ns = random() >> (random() % 60 + 3);
    samples.push_back(ns);
    histogram.add(static_cast<std::int64_t>(ns));
  }
  std::sort(samples.begin(), samples.end());
  for (const double share : {0.0, 0.01, 0.5, 0.9, 0.99, 1.0}) {
    const std::size_t rank = std::max<std::size_t>(1, static_cast<std::size_t>(share * 20'000.0 + 0.999999));
    const std::uint64_t exact = samples[rank - 1];
    EXPECT_GE(histogram.percentile(share), exact);
    EXPECT_LE(histogram.percentile(share), exact + exact / 64 + 1);
  }
  EXPECT_EQ(histogram.max(), samples.back());
}

TEST(LatencyHistogramTest, NegativeTimesCountAsZero) {
  LatencyHistogram histogram;
  histogram.add(-5);
  EXPECT_EQ(histogram.percentile(1.0), 0u);
}

TEST(LatencyHistogramTest, TheLargestTimeFits) {
  LatencyHistogram histogram;
  histogram.add(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(histogram.percentile(0.5), static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

}  // namespace
}  // namespace ringside
