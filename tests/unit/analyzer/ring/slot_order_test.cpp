// SPDX-License-Identifier: BSD-3-Clause
// The list of slots in the order of their commits. The reference is a choice that passes over all slots: with the same
// commits, leases, holds and guards, both choices must try and take the same slots.
#include "analyzer/ring/slot_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/ring/victim_choice.hpp"
#include "tests/unit/analyzer/ring/held_slots.hpp"

namespace ringside {
namespace {

using SlotAge = std::pair<std::uint64_t, std::uint32_t>;  // commit_seq, slot: the order of slots, the oldest first
using SeqOfSlot = std::vector<std::uint64_t>;

std::vector<SlotAge> sorted_ages(std::span<const std::uint64_t> seqs) {
  std::vector<SlotAge> ages;
  for (std::uint32_t slot = 0; slot < seqs.size(); ++slot) ages.emplace_back(seqs[slot], slot);
  std::sort(ages.begin(), ages.end());
  return ages;
}

/// Checks the passes in both directions, and the commit_seqs.
void expect_order_of(const SlotOrder& order, const SeqOfSlot& seqs) {
  ASSERT_TRUE(std::ranges::equal(order.seqs(), seqs));
  std::vector<SlotAge> ages = sorted_ages(seqs);
  std::vector<SlotAge> upwards;
  for (auto slot = order.oldest(); slot != order.end(); slot = order.newer(slot)) {
    ASSERT_LT(upwards.size(), seqs.size());
    upwards.emplace_back(order.seq(slot), slot);
  }
  ASSERT_EQ(upwards, ages);
  std::vector<SlotAge> downwards;
  for (auto slot = order.newest(); slot != order.end(); slot = order.older(slot)) {
    ASSERT_LT(downwards.size(), seqs.size());
    downwards.emplace_back(order.seq(slot), slot);
  }
  std::reverse(ages.begin(), ages.end());
  ASSERT_EQ(downwards, ages);
}

/// The rules of VictimChoice without a list: every function passes over all slots.
class ScanChoice {
 public:
  ScanChoice(std::uint32_t slots, SlotLeases& leases) : leases_(leases), disregarded_(slots, 0), copied_(slots, 0) {}

  std::uint32_t choose(std::span<const std::uint64_t> seqs, std::uint64_t persisted) {
    if (ahead_) return *std::exchange(ahead_, std::nullopt);
    if (const auto victim = free_victim(seqs, persisted)) return *victim;
    const std::uint32_t oldest = oldest_between(seqs, std::nullopt, first_to_stay(seqs))->second;
    if (copied_[oldest] != 0 && take(oldest)) return oldest;
    ++broken_;
    disregarded_[oldest] = 1;
    return oldest;
  }
  std::optional<std::uint32_t> choose_ahead(std::span<const std::uint64_t> seqs, std::uint64_t persisted) {
    return ahead_ = free_victim(seqs, persisted);
  }
  void give_back() {
    if (taken_) leases_.give_back(*taken_);
    taken_.reset();
    ahead_.reset();
  }
  void guard(std::optional<std::uint32_t> slot) {
    guarded_ = slot;
    if (slot && ahead_ == slot) give_back();
  }
  void hold(std::uint32_t slot) { ++copied_[slot]; }
  void let_go(std::uint32_t slot) { --copied_[slot]; }
  std::uint64_t oldest_that_may_go(std::span<const std::uint64_t> seqs) const {
    return oldest_between(seqs, std::nullopt, first_to_stay(seqs))->first;
  }
  void disregard_all() { disregarded_.assign(disregarded_.size(), 1); }
  std::uint64_t broken() const { return broken_; }

 private:
  SlotAge first_to_stay(std::span<const std::uint64_t> seqs) const {
    SlotAge newest{};
    SlotAge second{};
    for (std::uint32_t slot = 0; slot < seqs.size(); ++slot) {
      const SlotAge age{seqs[slot], slot};
      if (age >= newest) {
        second = std::exchange(newest, age);
      } else if (age > second) {
        second = age;
      }
    }
    return guarded_ && seqs.size() == 3 ? newest : second;
  }
  std::optional<SlotAge> oldest_between(std::span<const std::uint64_t> seqs, const std::optional<SlotAge>& after,
                                        const SlotAge& before) const {
    std::optional<SlotAge> oldest;
    for (std::uint32_t slot = 0; slot < seqs.size(); ++slot) {
      const SlotAge age{seqs[slot], slot};
      if (slot != guarded_ && age < before && (!after || age > *after) && (!oldest || age < *oldest)) oldest = age;
    }
    return oldest;
  }
  std::optional<std::uint32_t> free_victim(std::span<const std::uint64_t> seqs, std::uint64_t persisted) {
    give_back();
    const SlotAge before = first_to_stay(seqs);
    for (auto age = oldest_between(seqs, std::nullopt, before); age; age = oldest_between(seqs, age, before)) {
      const auto [seq, slot] = *age;
      if (seq != 0 && seq >= persisted) break;
      if (copied_[slot] != 0) continue;
      if (take(slot) || disregarded_[slot] != 0) return slot;
    }
    return std::nullopt;
  }
  bool take(std::uint32_t slot) {
    if (!leases_.take(slot)) return false;
    taken_ = slot;
    disregarded_[slot] = 0;
    return true;
  }

  SlotLeases& leases_;
  std::optional<std::uint32_t> taken_;
  std::optional<std::uint32_t> ahead_;
  std::optional<std::uint32_t> guarded_;
  std::vector<char> disregarded_;
  std::vector<std::uint32_t> copied_;
  std::uint64_t broken_ = 0;
};

/// A ring's commits, and both choices with the same leases. Every function compares the choices' results.
class BothChoices {
 public:
  BothChoices(std::uint32_t slots, std::uint64_t seed)
      : random_(seed), seqs_(slots, 0), order_(slots), copies_(slots, 0), choice_(slots), scan_(slots, scan_leases_) {
    choice_.respect(leases_);
  }

  void take_turn() {
    switch (below(10)) {
      case 0: draw_holds(); break;
      case 1: draw_copy(); break;
      case 2: draw_guard(); break;
      case 3:
        if (one_in(8)) draw_other_run();
        break;
      default: step();
    }
    compare();
  }

 private:
  std::uint64_t below(std::uint64_t count) { return random_() % count; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  std::uint32_t any_slot() { return static_cast<std::uint32_t>(below(seqs_.size())); }

  /// Slots below the returned value may be overwritten: all of them, or those that the disk has overtaken.
  std::uint64_t draw_persisted() {
    return one_in(2) ? ~std::uint64_t{0} : newest_ - std::min<std::uint64_t>(newest_, below(seqs_.size() + 1));
  }

  void draw_holds() {
    std::set<std::uint32_t> held;
    if (!one_in(4)) {  // otherwise, no reader holds a slot
      const std::uint64_t most = one_in(2) ? seqs_.size() : std::min<std::size_t>(3, seqs_.size());
      for (std::uint64_t i = below(most + 1); i > 0; --i) held.insert(any_slot());
      for (const auto& [seq, slot] : sorted_ages(seqs_)) {  // often the oldest slots, which are tried first
        if (one_in(2)) break;
        held.insert(slot);
      }
    }
    leases_.hold(held);
    scan_leases_.hold(held);
  }

  void draw_copy() {
    const std::uint32_t slot = one_in(2) ? order_.oldest() : any_slot();
    if (copies_[slot] < 2 && one_in(2)) {
      ++copies_[slot];
      choice_.hold(slot);
      scan_.hold(slot);
      return;
    }
    for (std::uint32_t copied = 0; copied < copies_.size(); ++copied) {
      for (; copies_[copied] > 0; --copies_[copied]) {
        choice_.let_go(copied);
        scan_.let_go(copied);
      }
    }
  }

  void draw_guard() {
    std::optional<std::uint32_t> slot;
    if (!one_in(3)) slot = one_in(2) ? order_.oldest() : any_slot();
    choice_.guard(slot);
    scan_.guard(slot);
  }

  /// A run ends. The next run keeps all steps, the older ones, or none.
  void draw_other_run() {
    give_back();
    if (one_in(2)) {
      std::fill(seqs_.begin(), seqs_.end(), 0);
      order_.make_all_empty();
      choice_.disregard_all();
      scan_.disregard_all();
    } else {
      const std::uint64_t last = draw_persisted();
      for (std::uint64_t& seq : seqs_) seq = seq <= last ? seq : 0;
      order_.assign(seqs_);
    }
  }

  void step() {
    const std::uint64_t persisted = draw_persisted();
    if (one_in(2)) {
      ASSERT_EQ(choice_.choose_ahead(order_, persisted), scan_.choose_ahead(seqs_, persisted));
      if (one_in(8)) draw_guard();
      if (one_in(8)) draw_holds();
    }
    const std::uint32_t victim = choice_.choose(order_, persisted);
    ASSERT_EQ(victim, scan_.choose(seqs_, persisted));
    seqs_[victim] = 0;
    order_.make_empty(victim);
    compare();
    if (one_in(10)) return;  // the step was not committed
    newest_ += 1 + (one_in(10) ? below(5) : 0);
    seqs_[victim] = newest_;
    order_.commit(victim, newest_);
    if (!one_in(4)) give_back();
  }

  void give_back() {
    choice_.give_back();
    scan_.give_back();
  }

  void compare() {
    expect_order_of(order_, seqs_);
    ASSERT_EQ(choice_.oldest_that_may_go(order_), scan_.oldest_that_may_go(seqs_));
    ASSERT_EQ(leases_.tried(), scan_leases_.tried()) << "the same calls in the same order";
    ASSERT_EQ(leases_.taken(), scan_leases_.taken());
    ASSERT_EQ(leases_.given_back(), scan_leases_.given_back());
    ASSERT_EQ(choice_.broken(), scan_.broken());
  }

  std::mt19937_64 random_;
  SeqOfSlot seqs_;
  SlotOrder order_;
  std::vector<std::uint32_t> copies_;  // by slot: the holds of the archive
  std::uint64_t newest_ = 0;
  HeldSlots leases_;
  HeldSlots scan_leases_;
  VictimChoice choice_;
  ScanChoice scan_;
};

TEST(SlotOrderTest, EmptySlotsComeFirstByNumberThenTheOthersByCommit) {
  expect_order_of(SlotOrder(4), {0, 0, 0, 0});
  const SeqOfSlot seqs{7, 0, 5, 0, 9, 6};
  const SlotOrder order(seqs);
  expect_order_of(order, seqs);
  EXPECT_EQ(order.oldest(), 1u);
  EXPECT_EQ(order.newest(), 4u);
  EXPECT_EQ(order.older(order.newest()), 0u);
}

TEST(SlotOrderTest, ACommittedSlotIsTheNewestAndAnEmptiedSlotTakesItsPlaceByNumber) {
  SlotOrder order(SeqOfSlot{7, 0, 5, 0, 9, 6});
  order.commit(3, 10);
  expect_order_of(order, {7, 0, 5, 10, 9, 6});
  order.commit(3, 11);
  expect_order_of(order, {7, 0, 5, 11, 9, 6});
  order.make_empty(0);
  expect_order_of(order, {0, 0, 5, 11, 9, 6});
  order.make_empty(5);
  order.make_empty(2);
  order.make_empty(2);
  expect_order_of(order, {0, 0, 0, 11, 9, 0});
  order.make_all_empty();
  expect_order_of(order, {0, 0, 0, 0, 0, 0});
}

TEST(SlotOrderTest, AnOrderIsAssignedAgainWithoutATraceOfTheOneBefore) {
  SlotOrder order(SeqOfSlot{3, 1, 2});
  order.commit(1, 4);
  order.assign(SeqOfSlot{0, 8, 7});
  expect_order_of(order, {0, 8, 7});
}

TEST(SlotOrderTest, TheListLeadsToTheSameChoicesAsAPassOverAllSlots) {
  for (const std::uint32_t slots : {3u, 4u, 5u, 8u, 40u}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      BothChoices both(slots, seed);
      for (int turn = 0; turn < 500; ++turn) {
        both.take_turn();
        ASSERT_FALSE(::testing::Test::HasFatalFailure()) << slots << " slots, seed " << seed << ", turn " << turn;
      }
    }
  }
}

}  // namespace
}  // namespace ringside
