// SPDX-License-Identifier: BSD-3-Clause
// The rules of docs/publish/library.md, "Holding a step", for the choice of a victim. Also tests that a step makes two
// lock calls. Lease windows are in victim_window_test.
#include "analyzer/ring/victim_choice.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "analyzer/ring/ring_writer.hpp"
#include "tests/unit/analyzer/ring/held_slots.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {
namespace {

using Slots = std::vector<std::uint32_t>;
using Seqs = std::vector<std::uint64_t>;

const Seqs kSeqs{14, 11, 12, 15, 13};
constexpr std::uint64_t kAll = ~std::uint64_t{0};  // all commits are persisted, or none needs to be

class VictimChoiceTest : public ::testing::Test {
 protected:
  /// Chooses among slots that hold these commits.
  std::uint32_t choose(const Seqs& seqs, std::uint64_t persisted = kAll) {
    if (!choice_) {
      choice_.emplace(static_cast<std::uint32_t>(seqs.size()));
      choice_->respect(leases_);
    }
    return choice_->choose(SlotOrder(seqs), persisted);
  }
  void choose_ahead(const Seqs& seqs, std::uint64_t persisted = kAll) {
    choice_->choose_ahead(SlotOrder(seqs), persisted);
  }
  std::uint64_t oldest_that_may_go(const Seqs& seqs) const { return choice_->oldest_that_may_go(SlotOrder(seqs)); }
  std::uint64_t broken() const { return choice_->broken(); }

  HeldSlots leases_;
  std::optional<VictimChoice> choice_;
};

TEST_F(VictimChoiceTest, TheOldestSlotThatIsNotHeldGoes) {
  EXPECT_EQ(choose(kSeqs), 1u);
  leases_.hold({1});
  EXPECT_EQ(choose(kSeqs), 2u);
  leases_.hold({1, 2});
  EXPECT_EQ(choose(kSeqs), 4u);
  leases_.hold({2});
  EXPECT_EQ(choose(kSeqs), 1u);
  EXPECT_EQ(broken(), 0u);
}

TEST_F(VictimChoiceTest, SlotsThatHoldNothingGoFirstInTheirOrder) {
  const Seqs seqs{2, 0, 1, 0, 3};
  EXPECT_EQ(choose(seqs), 1u);
  leases_.hold({1});
  EXPECT_EQ(choose(seqs), 3u);
  leases_.hold({1, 3});
  EXPECT_EQ(choose(seqs), 2u);
  EXPECT_EQ(VictimChoice(3).choose(SlotOrder(Seqs{0, 0, 0}), kAll), 0u);
  EXPECT_EQ(VictimChoice(3).choose(SlotOrder(Seqs{1, 0, 0}), kAll), 1u);
  EXPECT_EQ(VictimChoice(3).choose(SlotOrder(Seqs{1, 2, 0}), kAll), 2u);
}

TEST_F(VictimChoiceTest, TheTwoNewestSlotsAreNeverTried) {
  leases_.hold({0, 1, 2, 3, 4});
  choose(kSeqs);
  EXPECT_EQ(leases_.tried(), (Slots{1, 2, 4}));
}

TEST_F(VictimChoiceTest, IfAllThatCouldGoAreHeldTheOldestGoesAndItsLeaseIsBroken) {
  leases_.hold({1, 2, 4});
  EXPECT_EQ(choose(kSeqs), 1u);
  EXPECT_EQ(broken(), 1u);
  EXPECT_TRUE(leases_.taken().empty());
}

TEST_F(VictimChoiceTest, AGuardedSlotDoesNotGoEvenIfReadersHoldAllOthers) {
  choose(kSeqs);
  choice_->guard(1);
  EXPECT_EQ(choose(kSeqs), 2u);
  EXPECT_EQ(oldest_that_may_go(kSeqs), 12u);
  leases_.hold({0, 2, 3, 4});
  EXPECT_EQ(choose(kSeqs), 2u);
  EXPECT_EQ(broken(), 1u);
  choice_->guard(std::nullopt);
  EXPECT_EQ(choose(kSeqs), 1u);
}

TEST_F(VictimChoiceTest, GuardingTheSlotThatWasChosenAheadChoosesAgain) {
  choose(kSeqs);
  choose_ahead(kSeqs);
  choice_->guard(1);
  EXPECT_EQ(choose(kSeqs), 2u);
}

TEST_F(VictimChoiceTest, BesideAGuardedSlotARingOfThreeWritesToTheOtherTwoInTurn) {
  choose({1, 2, 3});
  choice_->guard(1);  // commit 2
  EXPECT_EQ(choose({1, 2, 3}), 0u);
  EXPECT_EQ(choose({4, 2, 3}), 2u);
  EXPECT_EQ(choose({4, 2, 5}), 0u);
  EXPECT_EQ(oldest_that_may_go({4, 2, 5}), 4u);
}

TEST_F(VictimChoiceTest, ASlotThatIsCopiedOutGoesOnlyIfNoOtherMay) {
  choose(kSeqs);
  choice_->hold(1);
  EXPECT_EQ(choose(kSeqs), 2u);
  leases_.hold({2, 4});
  EXPECT_EQ(choose(kSeqs), 1u);
  EXPECT_EQ(broken(), 0u) << "no reader had a lease of it";
  choice_->hold(1);  // the step that was written to the slot meanwhile
  choice_->let_go(1);
  leases_.hold({});
  EXPECT_EQ(choose(kSeqs), 2u);
  choice_->let_go(1);
  EXPECT_EQ(choose(kSeqs), 1u);
}

TEST_F(VictimChoiceTest, ARingOfThreeSlotsRespectsNoLease) {
  leases_.hold({0});
  EXPECT_EQ(choose({1, 2, 3}), 0u);
  EXPECT_EQ(broken(), 1u);
}

TEST_F(VictimChoiceTest, ABrokenLeaseIsNeitherRespectedNorCountedAgainUntilItsByteWasObtained) {
  leases_.hold({0, 1, 2, 3});
  EXPECT_EQ(choose({1, 2, 3, 4}), 0u);
  EXPECT_EQ(choose({5, 2, 3, 4}), 1u);
  EXPECT_EQ(choose({5, 6, 3, 4}), 2u);
  EXPECT_EQ(broken(), 3u);
  leases_.tried();
  EXPECT_EQ(choose({5, 6, 7, 4}), 0u) << "still locked, and taken without the lock";
  EXPECT_EQ(leases_.tried(), (Slots{3, 0}));
  EXPECT_EQ(broken(), 3u);

  leases_.hold({3});
  EXPECT_EQ(choose({5, 6, 7, 4}), 0u);
  leases_.hold({0, 3});
  EXPECT_EQ(choose({5, 6, 7, 4}), 3u) << "slot 0 was obtained: its lease is respected as long as another slot may go";
  EXPECT_EQ(broken(), 4u);
}

TEST_F(VictimChoiceTest, OnceItsByteWasObtainedALeaseIsRespectedAgain) {
  leases_.hold({0, 1});
  choose({1, 2, 3, 4});
  EXPECT_EQ(broken(), 1u);
  leases_.hold({});
  EXPECT_EQ(choose({1, 2, 3, 4}), 0u);
  leases_.hold({0});
  EXPECT_EQ(choose({1, 2, 3, 4}), 1u);
}

TEST_F(VictimChoiceTest, HungReadersOfAllSlotsKeepKMinus3LeasesAndCostKMinus2FailedCallsAStep) {
  leases_.hold({0, 1, 2, 3, 4});
  Seqs seqs{1, 2, 3, 4, 5};
  for (std::uint64_t seq = 6; seq < 30; ++seq) {
    seqs[choose(seqs)] = seq;
    EXPECT_EQ(leases_.tried().size(), 3u);
  }
  EXPECT_EQ(broken(), 3u);
  EXPECT_EQ(seqs[3], 4u);
  EXPECT_EQ(seqs[4], 5u);
}

TEST_F(VictimChoiceTest, UnderPowerOnlySlotsOlderThanTheNewestPersistedOneGo) {
  EXPECT_EQ(choose({11, 12, 13, 14, 15}, 13), 0u);
  leases_.hold({0});
  EXPECT_EQ(choose({11, 12, 13, 14, 15}, 13), 1u);
  leases_.hold({0, 1});
  EXPECT_EQ(choose({11, 12, 13, 14, 15}, 13), 0u) << "slot 2 is free, but it is the newest persisted one";
  EXPECT_EQ(broken(), 1u);
  leases_.hold({0});
  EXPECT_EQ(choose({0, 12, 13, 14, 15}, 12), 0u) << "the lease was broken before";
  leases_.hold({1});
  EXPECT_EQ(choose({12, 0, 13, 14, 15}, 12), 1u) << "the only one that may go without losing what is persisted";
  EXPECT_EQ(broken(), 2u);
}

TEST_F(VictimChoiceTest, WhatWasTakenIsGivenBackOnce) {
  choose({1, 2, 3});
  EXPECT_EQ(leases_.taken(), (std::set<std::uint32_t>{0}));
  choice_->give_back();
  choice_->give_back();
  EXPECT_TRUE(leases_.taken().empty());
  EXPECT_EQ(leases_.given_back(), 1u);
}

TEST_F(VictimChoiceTest, WhatIsDecidedAheadIsLockedAndStays) {
  choose(kSeqs);
  leases_.hold({1});
  choose_ahead(kSeqs);
  EXPECT_EQ(leases_.taken(), (std::set<std::uint32_t>{2}));
  leases_.hold({});
  leases_.tried();
  EXPECT_EQ(choose(kSeqs), 2u);
  EXPECT_TRUE(leases_.tried().empty()) << "no call when the step comes";
  EXPECT_EQ(choose(kSeqs), 1u) << "it was decided for one step";
}

TEST_F(VictimChoiceTest, TheSlotThatIsDecidedAheadIsReturned) {
  VictimChoice choice(5);
  choice.respect(leases_);
  leases_.hold({1});
  EXPECT_EQ(choice.choose_ahead(SlotOrder(kSeqs), kAll), 2u);
  leases_.hold({1, 2, 4});
  EXPECT_EQ(choice.choose_ahead(SlotOrder(kSeqs), kAll), std::nullopt);
}

TEST_F(VictimChoiceTest, NoLeaseIsBrokenAhead) {
  choose(kSeqs);
  leases_.hold({1, 2, 4});
  choose_ahead(kSeqs);
  EXPECT_EQ(broken(), 0u);
  leases_.hold({1, 4});
  EXPECT_EQ(choose(kSeqs), 2u) << "its reader was done in time";
  choose_ahead(kSeqs, 11);
  EXPECT_TRUE(leases_.taken().empty()) << "nothing may go before the disk has a newer step";
}

TEST_F(VictimChoiceTest, GivingBackForgetsWhatWasDecidedAhead) {
  choose(kSeqs);
  choose_ahead(kSeqs);
  choice_->give_back();
  EXPECT_TRUE(leases_.taken().empty());
  leases_.hold({1});
  EXPECT_EQ(choose(kSeqs), 2u);
}

struct LeasedRing : XOnlyRing {
  explicit LeasedRing(std::uint32_t slots) : XOnlyRing(100, slots) { writer.respect(leases); }
  HeldSlots leases;
};

TEST(RingLeasesTest, AStepMakesTwoLockCallsAndNoneBetweenItsArrivalAndItsCommit) {
  LeasedRing ring(5);
  for (std::uint64_t k = 1; k <= 12; ++k) {
    const auto victim = static_cast<std::uint32_t>((k - 1) % 5);
    ASSERT_EQ(ring.writer.begin(), CommitStatus::kOk);
    EXPECT_EQ(ring.leases.taken(), std::set<std::uint32_t>{victim});
    EXPECT_EQ(ring.leases.tried(), k == 1 ? Slots{victim} : Slots{}) << "only the first step was not chosen ahead";
    ring.writer.copy(iterate(k, 100).data(), step_of(k));
    ASSERT_EQ(ring.writer.commit(), CommitStatus::kOk);
    EXPECT_EQ(ring.leases.given_back(), 0u);
    ring.writer.end_lease();
    EXPECT_EQ(ring.leases.given_back(), 1u);
    EXPECT_TRUE(ring.leases.taken().empty());
    store_reductions(ring.writer, Reductions{});
    EXPECT_TRUE(ring.leases.tried().empty());
    ring.writer.choose_next();
    EXPECT_EQ(ring.leases.tried(), Slots{static_cast<std::uint32_t>(k % 5)});
  }
  EXPECT_EQ(ring.writer.leases_broken(), 0u);
}

TEST(RingLeasesTest, AHeldSlotStaysAndTheOthersTakeTurns) {
  LeasedRing ring(5);
  ring.commit_to(5);
  ring.leases.hold({1, 2});  // iterations 2 and 3
  for (std::uint64_t k = 6; k <= 30; ++k) {
    commit_iterate(ring.writer, k, 100);
    EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{2, 3, k - 2, k - 1, k}));
    EXPECT_EQ(recover(ring.memory.ring()).contiguous, k == 6 ? 5u : 3u);
  }
  EXPECT_EQ(ring.writer.leases_broken(), 0u);

  // The next owner continues after the gap, and finds the same newest step.
  RingWriter next = ring.next_writer();
  next.respect(ring.leases);
  EXPECT_EQ(begin_x_only(next, run_of(100))->header.iteration, 30u);
  commit_iterate(next, 31, 100);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{2, 3, 29, 30, 31}));
  ring.leases.hold({});
  commit_iterate(next, 32, 100);
  commit_iterate(next, 33, 100);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{29, 30, 31, 32, 33}));
  EXPECT_EQ(recover(ring.memory.ring()).contiguous, 5u);
}

TEST(RingLeasesTest, AnotherRunDoesNotBeginInASlotThatWasChosenForTheOneBefore) {
  LeasedRing ring(4);
  ring.commit_to(3);
  ring.writer.choose_next();  // slot 3, which is empty
  ring.writer.clear();
  EXPECT_TRUE(ring.leases.taken().empty());
  begin_x_only(ring.writer, run_of(100, 50));
  commit_iterate(ring.writer, 1, 100);
  EXPECT_EQ(recover(ring.memory.ring()).kept.at(0).slot, 0u);
}

TEST(RingLeasesTest, ClearingDoesNotRespectLeases) {
  LeasedRing ring(4);
  ring.commit_to(4);
  ring.leases.hold({0, 1, 2, 3});
  ring.writer.clear();
  EXPECT_TRUE(recover(ring.memory.ring()).kept.empty());
  begin_x_only(ring.writer, run_of(100, 50));
  for (std::uint64_t k = 1; k <= 4; ++k) commit_iterate(ring.writer, k, 100);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{1, 2, 3, 4})) << "each slot was taken in its turn";
  EXPECT_EQ(ring.writer.leases_broken(), 0u) << "what they held was discarded on request";
}

TEST(RingLeasesTest, AnUnfinishedStepGivesItsLeaseBackWhenTheRunEnds) {
  LeasedRing ring(4);
  ASSERT_EQ(ring.writer.begin(), CommitStatus::kOk);
  EXPECT_EQ(ring.leases.taken().size(), 1u);
  EXPECT_EQ(ring.writer.finish(), 0);
  EXPECT_TRUE(ring.leases.taken().empty());
}

}  // namespace
}  // namespace ringside
