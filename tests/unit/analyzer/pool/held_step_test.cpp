// SPDX-License-Identifier: BSD-3-Clause
// Steps that a reader holds while the pool's owner runs in the same process: leases, views, checks.
#include "common/pool_reader/held_step.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "analyzer/pool/pool_wipe.hpp"
#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/threads/openmp_team.hpp"
#include "tests/unit/analyzer/ring/several_variables.hpp"
#include "tests/unit/child_process.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kHeldRows = 5'000;

class HeldStepTest : public ::testing::Test {
 protected:
  /// Makes a pool, commits as many iterations as it has slots, and opens a reader.
  void begin(std::uint32_t slots) {
    pool_.emplace(RingPool::create(path_, RingShape::x_only(kHeldRows), slots));
    writer_ = std::make_unique<RingWriter>(pool_->ring(), pool_->persistence(), pool_->storage(), Durability::kProcess);
    writer_->respect(pool_->leases());
    begin_x_only(*writer_, run_of(kHeldRows));
    commit(slots);
    reader_.emplace(RingReader::open(path_));
  }
  HeldStep held(std::uint64_t iteration) const {
    HeldStep step;
    EXPECT_EQ(reader_->hold(iteration, step), HoldOutcome::kHeld) << iteration;
    return step;
  }
  void commit(std::uint64_t steps = 1) {
    for (; steps > 0; --steps) commit_iterate(*writer_, ++newest_, kHeldRows);
  }
  static bool is_iterate(const HeldStep& step, std::uint64_t k) {
    const std::vector<double> x = iterate(k, kHeldRows);
    const std::span<const std::byte> view = step.view(0);
    return view.size() == kHeldRows * sizeof(double) && std::memcmp(view.data(), x.data(), view.size()) == 0;
  }
  Iterations kept() const { return kept_iterations(pool_->ring()); }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("x.pool");
  std::optional<RingPool> pool_;
  std::unique_ptr<RingWriter> writer_;
  std::optional<RingReader> reader_;
  std::uint64_t newest_ = 0;
  OpenMpTeam team_;
};

TEST_F(HeldStepTest, AHeldStepStaysWhileTheAnalyzerCommits) {
  begin(4);
  HeldStep step = held(2);
  EXPECT_EQ(step.header().iteration, 2u);
  commit(50);
  EXPECT_TRUE(is_iterate(step, 2));
  EXPECT_EQ(step.step().descriptor.iteration, 2u);
  EXPECT_EQ(step.verify(team_), HeldStatus::kOk);
  EXPECT_EQ(step.check(), HeldStatus::kOk);
  EXPECT_EQ(kept(), (Iterations{2, 52, 53, 54}));
  EXPECT_EQ(step.release(), HeldStatus::kOk);
  commit(2);
  EXPECT_EQ(kept(), (Iterations{53, 54, 55, 56}));
  EXPECT_EQ(writer_->leases_broken(), 0u);
}

TEST_F(HeldStepTest, ZeroHoldsTheNewestStep) {
  begin(4);
  HeldStep step = held(kNewestCommit);
  EXPECT_EQ(step.header().iteration, 4u);
  EXPECT_EQ(reader_->hold(17, step), HoldOutcome::kNotKept);
  EXPECT_EQ(step.header().iteration, 4u) << "what was held before stays held";
}

TEST_F(HeldStepTest, AReaderThatHoldsAllSlotsLosesTheOldestAndItsCheckSaysSo) {
  begin(5);
  std::vector<HeldStep> steps;
  for (std::uint64_t k = 1; k <= 5; ++k) steps.push_back(held(k));
  commit();
  EXPECT_EQ(writer_->leases_broken(), 1u);
  EXPECT_EQ(steps[0].check(), HeldStatus::kOverwritten);
  EXPECT_EQ(steps[0].why_lost(),
            "iteration 1 is no longer held: the analyzer needed its slot (5 slots, 5 held); what was read since the "
            "last check may belong to another step; hold fewer steps, copy them, or give the pool more --slots");
  commit(20);
  // K - 3 leases are respected: one step later, those of iterations 2 and 3; from then on, those of iterations 4 and 5.
  EXPECT_EQ(steps[1].check(), HeldStatus::kOverwritten);
  EXPECT_EQ(steps[2].check(), HeldStatus::kOverwritten);
  EXPECT_EQ(steps[3].check(), HeldStatus::kOk);
  EXPECT_TRUE(is_iterate(steps[3], 4));
  EXPECT_EQ(steps[4].release(), HeldStatus::kOk);
  EXPECT_EQ(writer_->leases_broken(), 3u);
}

TEST_F(HeldStepTest, ARingOfThreeSlotsRespectsNoLease) {
  begin(3);
  HeldStep step = held(kNewestCommit);
  commit(2);
  EXPECT_EQ(step.check(), HeldStatus::kOk) << "it is still one of the two newest, then the oldest";
  commit();
  EXPECT_EQ(writer_->leases_broken(), 1u);
  EXPECT_EQ(step.release(), HeldStatus::kOverwritten);
}

TEST_F(HeldStepTest, AStepOnceLostStaysLostAndGivesItsLeaseBack) {
  begin(3);
  HeldStep lost = held(1);
  commit();
  EXPECT_EQ(lost.verify(team_), HeldStatus::kOverwritten);
  EXPECT_EQ(writer_->leases_broken(), 1u);
  commit(6);
  EXPECT_EQ(writer_->leases_broken(), 1u) << "its byte was free again";
  EXPECT_EQ(lost.check(), HeldStatus::kOverwritten);
  EXPECT_EQ(lost.release(), HeldStatus::kOverwritten);
}

TEST_F(HeldStepTest, TheAnalyzersLockRefusesAReader) {
  begin(4);
  ASSERT_TRUE(pool_->leases().take(1));  // as `begin` does, before it changes the header
  HeldStep step;
  EXPECT_EQ(reader_->hold(2, step), HoldOutcome::kOverwritten);
  EXPECT_FALSE(step);
  pool_->leases().give_back(1);
  EXPECT_EQ(reader_->hold(2, step), HoldOutcome::kHeld);
}

TEST_F(HeldStepTest, TwoStepsOfOneReaderShareTheLeaseOfASlot) {
  begin(5);
  HeldStep first = held(1);
  HeldStep second = held(1);
  EXPECT_EQ(first.release(), HeldStatus::kOk);
  commit(10);
  EXPECT_EQ(second.check(), HeldStatus::kOk);
  EXPECT_EQ(second.release(), HeldStatus::kOk);
  commit(1);
  EXPECT_EQ(kept(), (Iterations{12, 13, 14, 15, 16}));
}

TEST_F(HeldStepTest, TwoReadersHoldTheSameSlotIndependently) {
  begin(4);
  HeldStep first = held(1);
  HeldStep second;
  {
    const RingReader other = RingReader::open(path_);
    ASSERT_EQ(other.hold(1, second), HoldOutcome::kHeld);
    EXPECT_EQ(second.release(), HeldStatus::kOk);
  }
  commit(10);
  EXPECT_EQ(first.release(), HeldStatus::kOk);
}

TEST_F(HeldStepTest, DestroyingOrReplacingAHeldStepEndsItsLease) {
  begin(4);
  {
    HeldStep step = held(1);
    HeldStep moved = std::move(step);
    EXPECT_FALSE(step);  // NOLINT(bugprone-use-after-move)
    EXPECT_FALSE(pool_->leases().take(0));
    ASSERT_EQ(reader_->hold(2, moved), HoldOutcome::kHeld);
    EXPECT_TRUE(pool_->leases().take(0));
    EXPECT_FALSE(pool_->leases().take(1));
  }
  EXPECT_TRUE(pool_->leases().take(1));
}

TEST_F(HeldStepTest, AFlippedBitIsDamageOfItsVariableAndNoLoss) {
  begin(4);
  HeldStep step = held(3);
  std::byte* payload = pool_->ring().writable_payload(step.slot());
  payload[20'001] ^= std::byte{4};
  EXPECT_EQ(step.verify(0, team_), HeldStatus::kDamaged);
  EXPECT_EQ(step.check(), HeldStatus::kOk);
  payload[20'001] ^= std::byte{4};
  EXPECT_EQ(step.verify(0, team_), HeldStatus::kOk);
  std::uint64_t* table = pool_->ring().chunk_hash_table(step.slot());
  HeldStep again = held(3);
  table[0] ^= 1;
  EXPECT_EQ(again.verify(team_), HeldStatus::kDamaged);
  EXPECT_EQ(step.verify(0, team_), HeldStatus::kOk) << "hashed once";
}

TEST_F(HeldStepTest, EachVariableHasAViewAndIsVerifiedAlone) {
  const Schema schema = several_variables();
  const Catalogue catalogue = catalogue_of(schema, five_scalars());
  const RingPool pool = RingPool::create(path_, RingShape::of(schema, catalogue), 4);
  RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kProcess);
  writer.begin_run(run_with(schema), catalogue);
  const std::vector<std::byte> payload = payload_of(schema, 1);
  ASSERT_EQ(writer.begin(), CommitStatus::kOk);
  writer.copy(payload.data(), scalars_of(1));
  ASSERT_EQ(writer.commit(), CommitStatus::kOk);

  reader_.emplace(RingReader::open(path_));
  HeldStep step = held(kNewestCommit);
  EXPECT_EQ(step.step().scalar(3), 101u);
  for (std::size_t damaged = 0; damaged < schema.size(); ++damaged) {
    ASSERT_EQ(reader_->hold(kNewestCommit, step), HoldOutcome::kHeld);
    std::byte* last = pool.ring().writable_payload(0) + schema.place(damaged).offset + schema.place(damaged).bytes - 1;
    *last ^= std::byte{1};
    for (std::size_t v = 0; v < schema.size(); ++v) {
      const VariablePlace& place = schema.place(v);
      EXPECT_EQ(step.view(v).size(), place.bytes);
      EXPECT_EQ(std::memcmp(step.view(v).data(), payload.data() + place.offset, place.bytes) != 0, v == damaged);
      EXPECT_EQ(step.verify(v, team_), v == damaged ? HeldStatus::kDamaged : HeldStatus::kOk) << v << " " << damaged;
    }
    *last ^= std::byte{1};
  }
}

TEST_F(HeldStepTest, DiscardingTheIteratesOfAPoolEndsEachStepBeforeItsBytesChange) {
  begin(4);
  HeldStep step = held(2);
  writer_->clear();
  EXPECT_TRUE(is_iterate(step, 2));
  EXPECT_EQ(step.check(), HeldStatus::kOverwritten);
}

TEST_F(HeldStepTest, AReplacedPoolLeavesAHeldStepAsItIs) {
  begin(4);
  HeldStep step = held(2);
  writer_.reset();
  const RingPool other = RingPool::replace(path_, std::move(*pool_), RingShape::x_only(10), 3);
  EXPECT_TRUE(is_iterate(step, 2));
  EXPECT_EQ(step.release(), HeldStatus::kOk);
}

TEST_F(HeldStepTest, WipingAPoolEndsEachStepBeforeItsBytesChange) {
  begin(4);
  HeldStep step = held(2);
  writer_.reset();
  pool_.reset();
  PoolWipe wipe(path_);
  bool checked = false;
  wipe.overwrite([&](std::uint64_t) {
    if (std::exchange(checked, true)) return;
    EXPECT_TRUE(is_iterate(step, 2)) << "the last part of the file is zero, this slot is not yet";
    EXPECT_EQ(step.check(), HeldStatus::kOverwritten);
  });
  EXPECT_TRUE(checked);
}

TEST_F(HeldStepTest, AFollowerGetsEachStepInOrderAndWaitsForTheNext) {
  begin(4);
  const auto iteration_after = [&](std::uint64_t commit, std::chrono::milliseconds timeout) {
    const auto next = reader_->next(commit, timeout);
    return next ? next->header.iteration : 0;
  };
  EXPECT_EQ(iteration_after(0, std::chrono::milliseconds(0)), 1u);
  EXPECT_EQ(iteration_after(2, std::chrono::milliseconds(0)), 3u);
  EXPECT_EQ(iteration_after(4, std::chrono::milliseconds(1)), 0u);
  std::thread analyzer([&] { commit(); });
  EXPECT_EQ(iteration_after(4, std::chrono::hours(1)), 5u);
  analyzer.join();

  HeldStep old = held(3);
  commit(10);
  EXPECT_EQ(iteration_after(5, std::chrono::milliseconds(0)), 13u) << "the steps in between are gone";
  EXPECT_EQ(iteration_after(2, std::chrono::milliseconds(0)), 3u) << "a held step is kept";
}

TEST_F(HeldStepTest, AChildOfForkNeitherHoldsNorEndsALease) {
  begin(4);
  HeldStep step = held(2);
  const int status = testing::status_of_child([&] {
    HeldStep another;
    const bool refused = reader_->hold(3, another) == HoldOutcome::kNoLeases;
    const bool released = step.release() == HeldStatus::kOk;
    return refused && released ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(pool_->leases().take(1)) << "the parent's lease";
  commit(10);
  EXPECT_EQ(step.release(), HeldStatus::kOk);
}

TEST_F(HeldStepTest, StepsOfOneReaderMayBeReleasedByOtherThreads) {
  begin(8);
  std::atomic<int> held{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        HeldStep step;
        if (reader_->hold(kNewestCommit, step) != HoldOutcome::kHeld) continue;
        const std::uint64_t k = step.header().iteration;
        const bool whole = is_iterate(step, k);
        if (step.release() != HeldStatus::kOk) continue;
        EXPECT_TRUE(whole) << k;
        ++held;
      }
    });
  }
  commit(200);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(held.load(), 0);
  for (std::uint32_t slot = 0; slot < 8; ++slot) EXPECT_TRUE(pool_->leases().take(slot)) << "no lease is left";
}

}  // namespace
}  // namespace ringside
