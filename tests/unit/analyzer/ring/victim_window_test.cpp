// SPDX-License-Identifier: BSD-3-Clause
// Lease windows (docs/inside/library.md): which slots a window has, when it ends, and how many lock calls it saves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "analyzer/ring/lease_window.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "analyzer/ring/victim_choice.hpp"
#include "tests/unit/analyzer/ring/held_slots.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {
namespace {

using Seqs = std::vector<std::uint64_t>;

constexpr std::uint64_t kAllPersisted = ~std::uint64_t{0};  // all commits are persisted, or none needs to be

class VictimWindowTest : public ::testing::Test {
 protected:
  HeldSlots leases_;
};

TEST_F(VictimWindowTest, AWindowIsTakenWithOneCallAndUsedWithoutAny) {
  VictimChoice choice(8);
  choice.respect(leases_);
  SlotOrder order(Seqs{1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(choice.choose_ahead(order, kAllPersisted, 3), 0u);
  EXPECT_EQ(leases_.taken(), (std::set<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(leases_.calls(), 1u);
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    EXPECT_TRUE(choice.has_unused());
    EXPECT_EQ(choice.choose_ahead(order, kAllPersisted, 3), slot);
    EXPECT_EQ(choice.choose(order, kAllPersisted), slot);
    order.commit(slot, 9 + slot);
    leases_.calls();
  }
  EXPECT_FALSE(choice.has_unused());
  choice.give_back();
  EXPECT_EQ(leases_.calls(), 1u);
  EXPECT_TRUE(leases_.taken().empty());
}

TEST_F(VictimWindowTest, AWindowHasOnlyConsecutiveSlotsThatMayGo) {
  const auto window = [&](const Seqs& seqs, std::uint64_t persisted, auto&& prepare) {
    VictimChoice choice(static_cast<std::uint32_t>(seqs.size()));
    choice.respect(leases_);
    prepare(choice);
    choice.choose_ahead(SlotOrder(seqs), persisted, 5);
    const std::set<std::uint32_t> taken = leases_.taken();
    choice.give_back();
    return taken;
  };
  using Taken = std::set<std::uint32_t>;
  const auto nothing = [](VictimChoice&) {};
  EXPECT_EQ(window({7, 8, 1, 2, 3, 4, 5, 6}, kAllPersisted, nothing), (Taken{2, 3, 4, 5, 6}));
  EXPECT_EQ(window({3, 4, 5, 6, 7, 8, 1, 2}, kAllPersisted, nothing), (Taken{6, 7})) << "slot 0 is not after slot 7";
  EXPECT_EQ(window({1, 2, 4, 3, 5, 6, 7, 8}, kAllPersisted, nothing), (Taken{0, 1})) << "commit 3 is in slot 3";
  EXPECT_EQ(window({1, 2, 3, 4, 5}, kAllPersisted, nothing), (Taken{0, 1, 2})) << "never one of the two newest";
  EXPECT_EQ(window({1, 2, 3, 4, 5, 6, 7, 8}, 3, nothing), (Taken{0, 1})) << "commit 3 is the newest persisted one";
  EXPECT_EQ(window({9, 0, 0, 10, 0, 0, 0, 0}, kAllPersisted, nothing), (Taken{1, 2})) << "empty slots";
  EXPECT_EQ(window({1, 2, 3, 4, 5, 6, 7, 8}, kAllPersisted, [](VictimChoice& choice) { choice.guard(2); }),
            (Taken{0, 1}));
  EXPECT_EQ(window({1, 2, 3, 4, 5, 6, 7, 8}, kAllPersisted, [](VictimChoice& choice) { choice.hold(2); }),
            (Taken{0, 1}));
  EXPECT_EQ(window({1, 2, 3, 4, 5, 6, 7, 8}, kAllPersisted, [](VictimChoice& choice) { choice.hold(0); }), (Taken{1}))
      << "slot 0 is overwritten next once it is let go";
  leases_.hold({3});
  EXPECT_EQ(window({1, 2, 3, 4, 5, 6, 7, 8}, kAllPersisted, nothing), (Taken{0})) << "one slot, as without windows";
  leases_.hold({0});
  EXPECT_EQ(window({1, 2, 3, 4, 5, 6, 7, 8}, kAllPersisted, nothing), (Taken{1}));
}

TEST_F(VictimWindowTest, AGuardOrAHoldTakesItsSlotOutOfAWindow) {
  for (const bool guards : {false, true}) {
    for (const bool decided : {false, true}) {
      VictimChoice choice(8);
      choice.respect(leases_);
      SlotOrder order(Seqs{1, 2, 3, 4, 5, 6, 7, 8});
      choice.choose_ahead(order, kAllPersisted, 3);
      ASSERT_EQ(choice.choose(order, kAllPersisted), 0u);
      if (!decided) {
        EXPECT_TRUE(leases_.taken().contains(0));
      } else {
        order.commit(0, 9);
        choice.choose_ahead(order, kAllPersisted, 3);
      }
      guards ? choice.guard(2) : choice.hold(2);
      EXPECT_FALSE(choice.has_unused());
      EXPECT_EQ(leases_.taken().contains(0), !decided) << "a step's slot stays locked until its commit";
      if (!decided) order.commit(0, 9);
      EXPECT_EQ(choice.choose(order, kAllPersisted), 1u);
      order.commit(1, 10);
      EXPECT_EQ(choice.choose(order, kAllPersisted), 3u);
      choice.give_back();
    }
  }
}

TEST_F(VictimWindowTest, AStepThatDoesNotContinueAWindowEndsIt) {
  VictimChoice choice(8);
  choice.respect(leases_);
  SlotOrder order(Seqs{1, 2, 3, 4, 5, 6, 7, 8});
  choice.choose_ahead(order, kAllPersisted, 3);
  order.commit(choice.choose(order, kAllPersisted), 9);
  EXPECT_EQ(choice.choose_ahead(order, kAllPersisted), 1u);
  EXPECT_EQ(leases_.taken(), (std::set<std::uint32_t>{1}));
}

/// Random commits, holds, guards and windows. The model: of all slots that may be overwritten, a step takes the oldest
/// one that was free when the writer last made a lock call.
class RandomWindows {
 public:
  explicit RandomWindows(std::uint32_t slots, std::uint64_t seed) : random_(seed), order_(slots), choice_(slots) {
    choice_.respect(leases_);
  }

  void take_turn() {
    if (one_in(3)) draw_holds();
    if (one_in(20)) draw_guard();
    if (one_in(20)) draw_copy();
    if (one_in(6)) choice_.give_back();
    persisted_ = std::max(persisted_, newest_ - std::min<std::uint64_t>(newest_, below(order_.slots() - 1)));
    const auto most = static_cast<std::uint32_t>(1 + below(6));
    leases_.calls();
    if (!one_in(8) && choice_.choose_ahead(order_, persisted_, most)) {
      if (leases_.calls() > 0) decide();
      ASSERT_LE(leases_.taken().size(), most > 1 ? 6u : 1u);
      if (one_in(10)) draw_guard();
      draw_holds();  // of slots that are not locked
    }
    step();
  }
  std::uint64_t windows() const { return windows_; }

 private:
  std::uint64_t below(std::uint64_t count) { return random_() % count; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }

  void draw_holds() {
    std::set<std::uint32_t> held;
    for (std::uint64_t i = one_in(2) ? 0 : below(4); i > 0; --i) {
      const auto slot = static_cast<std::uint32_t>(below(order_.slots()));
      if (!leases_.taken().contains(slot)) held.insert(slot);
    }
    held_ = held;
    leases_.hold(held);
  }
  void draw_guard() {
    guarded_.reset();
    if (!one_in(3)) guarded_ = static_cast<std::uint32_t>(below(order_.slots()));
    choice_.guard(guarded_);
  }
  void draw_copy() {
    for (const std::uint32_t slot : copied_) choice_.let_go(slot);
    copied_.clear();
    if (one_in(2)) return;
    copied_.insert(order_.newest());
    choice_.hold(order_.newest());
  }
  /// The writer looked at the leases: remembers which slots were not free.
  void decide() {
    not_free_ = held_;
    not_free_.insert(copied_.begin(), copied_.end());
    if (guarded_) not_free_.insert(*guarded_);
    windows_ += leases_.taken().size() > 1 ? 1u : 0u;
    const auto& taken = leases_.taken();
    if (!taken.empty()) {
      ASSERT_EQ(*taken.rbegin() - *taken.begin() + 1, taken.size());
    }
  }

  void step() {
    const std::uint64_t broken = choice_.broken();
    leases_.calls();
    const std::uint32_t victim = choice_.choose(order_, persisted_);
    if (leases_.calls() > 0) decide();
    ASSERT_NE(victim, order_.newest());
    ASSERT_TRUE(victim != order_.older(order_.newest()) ||
                order_.slots() == 3);  // a ring of three may have had a guard
    ASSERT_FALSE(victim == guarded_);
    const bool was_lost = lost_.contains(victim);
    if (leases_.taken().contains(victim)) {
      ASSERT_FALSE(held_.contains(victim));
      lost_.erase(victim);
      for (std::uint32_t slot = order_.oldest(); slot != victim; slot = order_.newer(slot)) {
        ASSERT_TRUE(slot == guarded_ || not_free_.contains(slot) || copied_.contains(victim))
            << "slot " << slot << " is older than " << victim;
      }
    } else {
      ASSERT_TRUE(was_lost || choice_.broken() == broken + 1);
      lost_.insert(victim);
    }
    order_.make_empty(victim);
    order_.commit(victim, ++newest_);
  }

  std::mt19937_64 random_;
  HeldSlots leases_;
  SlotOrder order_;
  VictimChoice choice_;
  std::uint64_t newest_ = 0;
  std::uint64_t persisted_ = 0;
  std::uint64_t windows_ = 0;
  std::set<std::uint32_t> held_;
  std::set<std::uint32_t> copied_;
  std::set<std::uint32_t> not_free_;
  std::set<std::uint32_t> lost_;  // the slots whose leases were broken, and that were not locked since
  std::optional<std::uint32_t> guarded_;
};

TEST(RandomWindowsTest, AStepTakesTheOldestSlotThatWasFreeAndNeverAHeldOne) {
  for (const std::uint32_t slots : {3u, 4u, 5u, 8u, 13u, 40u}) {
    std::uint64_t windows = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      RandomWindows ring(slots, seed);
      for (int turn = 0; turn < 500; ++turn) {
        ring.take_turn();
        ASSERT_FALSE(::testing::Test::HasFatalFailure()) << slots << " slots, seed " << seed << ", turn " << turn;
      }
      windows += ring.windows();
    }
    if (slots > 3) {
      EXPECT_GT(windows, 100u);
    }
  }
}

/// Steps of 1 us, each of which finds the next one waiting.
struct SaturatedRing : XOnlyRing {
  explicit SaturatedRing(std::uint32_t slots) : XOnlyRing(100, slots) { writer.respect(leases); }

  void step() {
    leases.calls();
    ASSERT_EQ(writer.begin(), CommitStatus::kOk);
    ++newest;
    writer.copy(iterate(newest, 100).data(), step_of(newest));
    ASSERT_EQ(writer.commit(), CommitStatus::kOk);
    if (newest > 1) {
      EXPECT_EQ(leases.calls(), 0u) << "between the arrival of step " << newest << " and its commit";
    }
    leases.calls();
    now_ns += 1'000;
    writer.end_lease_before_step(now_ns);
    writer.choose_before_step(now_ns);
    calls += leases.calls();
  }
  void steps(std::uint64_t count) {
    for (; count > 0; --count) step();
  }

  HeldSlots leases;
  std::uint64_t newest = 0;
  std::int64_t now_ns = 5'000'000'000;
  std::uint64_t calls = 0;
};

TEST(RingWindowsTest, InASaturatedRunAWindowOfThreeSlotsMakesTwoLockCalls) {
  SaturatedRing ring(8);
  ring.steps(8);  // the first slot is locked alone: the duration of its step is unknown
  ring.calls = 0;
  ring.steps(48);  // windows of 3, 3 and 2 slots in each round, because slot 0 does not follow slot 7
  EXPECT_EQ(ring.calls, 48u / 8 * 3 * 2);
  EXPECT_EQ(ring.writer.leases_broken(), 0u);
  ring.writer.end_lease();
  EXPECT_TRUE(ring.leases.taken().empty());
}

TEST(RingWindowsTest, ARingOfFiveSlotsLocksEachSlotAlone) {
  SaturatedRing ring(5);
  ring.steps(5);
  ring.calls = 0;
  ring.steps(50);
  EXPECT_EQ(ring.calls, 100u);
}

TEST(RingWindowsTest, AWindowEndsWhenItIs50MicrosecondsOld) {
  SaturatedRing ring(1024);
  ring.steps(3);
  ASSERT_GT(ring.leases.taken().size(), 2u);
  ring.leases.given_back();
  ring.now_ns += LeaseWindow::kLongestNs;
  ring.step();
  EXPECT_EQ(ring.leases.given_back(), 1u);
  EXPECT_EQ(ring.leases.taken().size(), 1u) << "so long a step needs no window";
}

TEST(RingWindowsTest, AWindowEndsWhenNoFurtherStepWaits) {
  SaturatedRing ring(8);
  ring.steps(9);
  ASSERT_GT(ring.leases.taken().size(), 1u);
  ring.writer.end_lease();
  EXPECT_TRUE(ring.leases.taken().empty());
  ring.writer.choose_next();
  EXPECT_EQ(ring.leases.taken().size(), 1u);
}

TEST(RingWindowsTest, ForASecondAfterALeaseWasSeenEachStepMakesTwoLockCalls) {
  SaturatedRing ring(8);
  ring.steps(20);
  std::set<std::uint32_t> held{0};
  while (ring.leases.taken().contains(0)) ring.step();  // a reader gets no lease of a locked slot
  ring.leases.hold(held);
  ring.steps(8);
  ring.leases.hold({});
  ring.steps(16);
  ring.calls = 0;
  ring.steps(16);
  EXPECT_GE(ring.calls, 32u);
  EXPECT_EQ(ring.writer.leases_broken(), 0u);
  ring.now_ns += LeaseWindow::kQuietNs;
  ring.steps(16);
  ring.calls = 0;
  ring.steps(8);
  EXPECT_LT(ring.calls, 16u);
}

TEST(RingWindowsTest, ALeaseOfAnySlotIsFoundWithin64Steps) {
  SaturatedRing ring(1024);
  ring.steps(10);
  ring.leases.hold({900});  // long before it is the oldest slot
  ring.steps(64);
  EXPECT_EQ(ring.leases.taken().size(), 1u);
}

TEST(RingWindowsTest, TheEndOfARunEndsItsWindow) {
  SaturatedRing ring(8);
  ring.steps(9);
  ASSERT_GT(ring.leases.taken().size(), 1u);
  ring.writer.clear();
  EXPECT_TRUE(ring.leases.taken().empty());
}

}  // namespace
}  // namespace ringside
