// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/ring_replay.hpp"

#include <gtest/gtest.h>

#include "analyzer/ring/ring_writer.hpp"
#include "common/reductions/reduction_words.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kReplayedRows = 5000;  // two chunks and a part of a third one

/// Keeps and reduces iterates in the same way as the analyzer.
class RingReplayTest : public ::testing::Test {
 protected:
  explicit RingReplayTest() { begin_x_only(writer_, run_of(kReplayedRows)); }

  void keep(std::uint64_t k, bool reduced = true) {
    commit_iterate(writer_, k, kReplayedRows);
    if (reduced) store_reductions(writer_, reduced_iterate());
  }

  Reductions reduced_iterate() {
    return reducer_.reduce(reinterpret_cast<const double*>(writer_.payload()),
                           reinterpret_cast<const double*>(writer_.previous_payload()), 1);
  }

  std::vector<KeptSlot> kept() const { return recover(memory_.ring()).kept; }

  std::vector<ReplayedIterate> replay_all() const {
    const RingView ring = memory_.ring();
    RingReplay replay(ring);
    std::vector<ReplayedIterate> iterates;
    for (const KeptSlot& slot : recover(ring).kept) iterates.push_back(replay.replay(slot));
    return iterates;
  }

  static Reductions shown(const ReplayedIterate& iterate) { return to_reductions(iterate.words, kReplayedRows); }

  std::uint64_t meta(const KeptSlot& slot) const { return memory_.geometry().slots[slot.slot].meta_offset; }
  std::uint64_t payload(const KeptSlot& slot) const { return memory_.geometry().slots[slot.slot].payload_offset; }

  RingInMemory memory_{kReplayedRows, 4};
  RingWriter writer_{memory_.ring(), memory_.persistence, Storage::kDax, Durability::kPower};
  Reducer reducer_{kReplayedRows};
};

TEST_F(RingReplayTest, WhatWasRecordedIsWhatTheBytesGive) {
  for (std::uint64_t k = 1; k <= 6; ++k) keep(k);
  const std::vector<ReplayedIterate> iterates = replay_all();
  ASSERT_EQ(iterates.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(iterates[i].verdict, ReplayVerdict::kEqual);
    EXPECT_EQ(iterates[i].kept.header.iteration, i + 3);
    EXPECT_EQ(iterates[i].step.descriptor.residual_l1, step_of(i + 3).descriptor.residual_l1);
    EXPECT_EQ(iterates[i].change_left_out, i == 0) << "the oldest one's predecessor was overwritten";
    EXPECT_EQ(shown(iterates[i]).has_change, i == 0 ? 0u : 1u);
  }
  EXPECT_EQ(shown(iterates[3]).change_linf, 1.0) << "iterates of the tests differ by one in each row";
}

TEST_F(RingReplayTest, TheFirstIterateOfARunHasNoChangeAndIsComparedInFull) {
  keep(1);
  keep(2);
  const std::vector<ReplayedIterate> iterates = replay_all();
  EXPECT_EQ(iterates[0].verdict, ReplayVerdict::kEqual);
  EXPECT_FALSE(iterates[0].change_left_out);
}

TEST_F(RingReplayTest, ADifferenceIsNamedWithBothValues) {
  keep(1);
  commit_iterate(writer_, 2, kReplayedRows);
  Reductions wrong = reduced_iterate();
  wrong.l2 += 1;
  wrong.change_l1 = 0.5;
  store_reductions(writer_, wrong);
  const ReplayedIterate iterate = replay_all()[1];
  EXPECT_EQ(iterate.verdict, ReplayVerdict::kDiffers);
  ASSERT_EQ(iterate.differences.size(), 2u);
  EXPECT_EQ(iterate.differences[0].name, "x.l2");
  EXPECT_EQ(iterate.differences[1].name, "x.change_l1");
  EXPECT_EQ(iterate.differences[1].recorded, "0.5");
  EXPECT_EQ(iterate.differences[1].recomputed, "5000");
}

TEST_F(RingReplayTest, WithoutARecordThereIsNothingToCompareWith) {
  keep(1, false);
  EXPECT_EQ(replay_all()[0].verdict, ReplayVerdict::kNotRecorded);
  EXPECT_EQ(shown(replay_all()[0]).rows, kReplayedRows) << "it is reduced all the same";
}

TEST_F(RingReplayTest, ADamagedRecordDoesNotHideAnIntactIterate) {
  keep(1);
  memory_.flip_bit(meta(kept()[0]) + memory_.geometry().results_offset() + 100);
  EXPECT_EQ(replay_all()[0].verdict, ReplayVerdict::kReductionsDamaged);
}

TEST_F(RingReplayTest, ADamagedIterateIsLocatedAndCostsItsSuccessorTheChangeOnly) {
  for (std::uint64_t k = 1; k <= 4; ++k) keep(k);
  memory_.flip_bit(payload(kept()[1]) + 2 * kChunkBytes + 5);
  const std::vector<ReplayedIterate> iterates = replay_all();
  EXPECT_EQ(iterates[1].verdict, ReplayVerdict::kDamaged);
  EXPECT_EQ(iterates[1].payload.damaged_chunks, std::vector<std::uint64_t>{2});
  EXPECT_EQ(iterates[0].verdict, ReplayVerdict::kEqual);
  EXPECT_EQ(iterates[2].verdict, ReplayVerdict::kEqual);
  EXPECT_TRUE(iterates[2].change_left_out);
  EXPECT_EQ(iterates[3].verdict, ReplayVerdict::kEqual);
  EXPECT_FALSE(iterates[3].change_left_out);
}

TEST_F(RingReplayTest, AnIterateBehindAGapIsNotComparedWithTheOneBeforeTheGap) {
  for (std::uint64_t k = 1; k <= 4; ++k) keep(k);
  memory_.flip_bit(meta(kept()[1]));  // the slot's header, so that the iterate's number is lost
  const std::vector<ReplayedIterate> iterates = replay_all();
  ASSERT_EQ(iterates.size(), 3u);
  for (const ReplayedIterate& iterate : iterates) EXPECT_EQ(iterate.verdict, ReplayVerdict::kEqual);
  EXPECT_TRUE(iterates[1].change_left_out);
}

TEST_F(RingReplayTest, AnotherRunsIterateIsNoPredecessor) {
  keep(1);
  EXPECT_EQ(writer_.finish(), 0);
  begin_x_only(writer_, run_of(kReplayedRows, 9));
  keep(2);
  for (const ReplayedIterate& iterate : replay_all()) {
    EXPECT_EQ(iterate.verdict, ReplayVerdict::kEqual);
    EXPECT_FALSE(iterate.change_left_out);
    EXPECT_EQ(shown(iterate).has_change, 0u);
  }
}

TEST_F(RingReplayTest, AnIterateThatIsSkippedServesAsPredecessor) {
  for (std::uint64_t k = 1; k <= 3; ++k) keep(k);
  const RingView ring = memory_.ring();
  RingReplay replay(ring);
  replay.skip(kept()[1]);
  const ReplayedIterate iterate = replay.replay(kept()[2]);
  EXPECT_EQ(iterate.verdict, ReplayVerdict::kEqual);
  EXPECT_FALSE(iterate.change_left_out);
}

TEST_F(RingReplayTest, ADamagedIterateThatIsSkippedIsNoPredecessor) {
  for (std::uint64_t k = 1; k <= 3; ++k) keep(k);
  memory_.flip_bit(payload(kept()[1]) + 5);
  const RingView ring = memory_.ring();
  RingReplay replay(ring);
  replay.skip(kept()[1]);
  EXPECT_TRUE(replay.replay(kept()[2]).change_left_out);
}

TEST_F(RingReplayTest, WhatIsOverwrittenMeanwhileIsReportedAsSuch) {
  for (std::uint64_t k = 1; k <= 4; ++k) keep(k);
  const std::vector<KeptSlot> snapshot = kept();
  keep(5);
  writer_.begin();  // now the next victim is being overwritten
  const RingView ring = memory_.ring();
  RingReplay replay(ring);
  EXPECT_EQ(replay.replay(snapshot[0]).verdict, ReplayVerdict::kOverwritten);
  EXPECT_EQ(replay.replay(snapshot[1]).verdict, ReplayVerdict::kOverwritten);
  const ReplayedIterate iterate = replay.replay(snapshot[2]);
  EXPECT_EQ(iterate.verdict, ReplayVerdict::kEqual);
  EXPECT_TRUE(iterate.change_left_out);
}

}  // namespace
}  // namespace ringside
