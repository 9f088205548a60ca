// SPDX-License-Identifier: BSD-3-Clause
// The three published competitions (S. G. Fagerheim's thesis, Tables 3 to 5): two groups of threads copy side by side.
// Predicted from the STREAM tables alone.
#include <gtest/gtest.h>

#include <cmath>

#include "node/file/node_file.hpp"
#include "node/model/channels.hpp"
#include "node/model/derived_kernels.hpp"
#include "node/model/kernel_time.hpp"

namespace ringside {
namespace {

constexpr double kCountedBytes = 16;  // of a copied element
constexpr double kMovedBytes = 24;
constexpr double kElements = 1e6;

class PublishedCompetitionTest : public ::testing::Test {
 protected:
  PublishedCompetitionTest() {
    std::vector<Series> streams;
    for (const StreamFigures& stream : node_.streams) {
      if (stream.tier == "dram") streams.push_back(stream.gb_s);
    }
    q_ = fit_exponent(streams);
    access_ = access_seconds(node_, channels_of(node_), "nvdimm", q_).value();
    dram_core_s_ = core_seconds(kCountedBytes / (node_.streams.front().gb_s.points.front().figure.value * 1e9),
                                kMovedBytes, capacity_, q_);
  }

  /// A copy with so many accesses an element in NVDIMM.
  KernelTime copy(int threads, int accesses) const {
    const double core = dram_core_s_ + accesses * access_of(threads);
    return {.threads = threads,
            .alone_s = soft_sum(core * kElements / threads, kMovedBytes * kElements / capacity_, q_),
            .bytes = {kMovedBytes * kElements}};
  }

  double access_of(int threads) const { return access_.points[static_cast<std::size_t>(threads - 1)].figure.value; }

  /// The mean relative error of both groups' rates over all splits.
  double error(const Competition& competition, int accesses) const {
    double sum = 0;
    for (const CompetitionRow& row : competition.rows) {
      const Together both =
          together(copy(row.first_threads, 0), copy(row.second_threads, accesses), std::vector<double>{capacity_}, q_);
      const double first_gb_s = kCountedBytes * kElements / both.first_s * 1e-9;
      const double second_gb_s = kCountedBytes * kElements / both.second_s * 1e-9;
      sum += std::abs(first_gb_s / row.first_gb_s.value - 1) + std::abs(second_gb_s / row.second_gb_s.value - 1);
    }
    return sum / static_cast<double>(2 * competition.rows.size());
  }

  const Node node_ = read_node(RINGSIDE_PUBLISHED_NODE);
  const double capacity_ = channels_of(node_).capacity_bytes_s.front();
  double q_ = 0;
  Series access_;
  double dram_core_s_ = 0;
};

TEST_F(PublishedCompetitionTest, BothTiersHangOnTheSameChannels) {
  EXPECT_EQ(channels_of(node_).groups(), 1u);
  EXPECT_NEAR(capacity_, 99.1e9, 0.1e9);  // triad with 16 threads: 74.3 GB/s counted, 4/3 of it moved
}

TEST_F(PublishedCompetitionTest, CopiesWithinNvdimmArePredictedWithinAnEighthOnAverage) {
  EXPECT_LE(error(node_.competitions[0], 2), 0.125);
}

TEST_F(PublishedCompetitionTest, CopiesThatReadNvdimmArePredictedWithinATenthOnAverage) {
  EXPECT_LE(error(node_.competitions[1], 1), 0.10);
}

TEST_F(PublishedCompetitionTest, CopiesThatWriteNvdimmArePredictedWithinATenthOnAverage) {
  EXPECT_LE(error(node_.competitions[2], 1), 0.10);
}

}  // namespace
}  // namespace ringside
