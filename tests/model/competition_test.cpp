// SPDX-License-Identifier: BSD-3-Clause
// The three published competitions (S. G. Fagerheim's thesis, Tables 3 to 5), in which two groups of threads copy at
// the same time. The predictions use only the STREAM tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "node/file/node_file.hpp"
#include "node/model/channels.hpp"
#include "node/model/predicted_copies.hpp"

namespace ringside {
namespace {

class PublishedCompetitionTest : public ::testing::Test {
 protected:
  /// The mean relative error of both groups' rates over all splits.
  double error(const Competition& competition, int accesses) const {
    double sum = 0;
    const std::vector<double> errors = copies_.errors(competition, accesses);
    for (const double one : errors) sum += std::abs(one);
    return sum / static_cast<double>(errors.size());
  }

  const Node node_ = read_node(RINGSIDE_PUBLISHED_NODE);
  const PredictedCopies copies_{node_, "nvdimm"};
};

TEST_F(PublishedCompetitionTest, BothTiersShareTheSameChannels) {
  EXPECT_EQ(channels_of(node_).groups(), 1u);
  EXPECT_NEAR(channels_of(node_).capacity_bytes_s.front(), 99.1e9,
              0.1e9);  // triad with 16 threads: 74.3 GB/s counted; 4/3 of that is moved
}

TEST_F(PublishedCompetitionTest, NeitherTheOrderOfTheStreamsNorAMissingThreadCountMatters) {
  Node other = node_;
  std::reverse(other.streams.begin(), other.streams.end());
  const std::vector<double> before = copies_.errors(node_.competitions[0], 2);
  EXPECT_EQ(PredictedCopies(other, "nvdimm").errors(node_.competitions[0], 2), before);
  for (StreamFigures& streams : other.streams) streams.gb_s.points.erase(streams.gb_s.points.begin() + 5);
  const std::vector<double> without_six = PredictedCopies(other, "nvdimm").errors(node_.competitions[0], 2);
  ASSERT_EQ(without_six.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(without_six[i], before[i], 0.05) << i;
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
