// SPDX-License-Identifier: BSD-3-Clause
// Threads share work: every piece must be done once, no matter which threads join and leave.
#include "common/threads/team.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <latch>
#include <thread>
#include <vector>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"
#include "common/platform/thread.hpp"
#include "common/threads/core_loan.hpp"
#include "common/threads/elastic_team.hpp"
#include "common/threads/openmp_team.hpp"
#include "tests/unit/allowed_cpus.hpp"

namespace ringside {
namespace {

/// How often each piece was done in several calls of `share`.
std::vector<int> times_done(Team& team, std::uint64_t pieces, int calls) {
  std::vector<std::atomic<int>> done(pieces);
  for (int call = 0; call < calls; ++call) {
    team.share(pieces, [&](std::uint64_t piece, int thread) noexcept {
      EXPECT_GE(thread, 0);
      EXPECT_LT(thread, team.threads());
      for (int i = 0; i < 100; ++i) done[piece].load(std::memory_order_relaxed);  // gives others time to take pieces
      done[piece].fetch_add(1, std::memory_order_relaxed);
    });
    // Now every piece of this call must be done, and no piece of the next call begun.
    for (const std::atomic<int>& times : done) EXPECT_EQ(times.load(std::memory_order_relaxed), call + 1);
  }
  return {done.begin(), done.end()};
}

TEST(PieceBegin, PiecesCoverTheUnitsWithoutGapOrOverlapAndDifferByAtMostOne) {
  for (const std::uint64_t units : {0u, 1u, 7u, 64u, 1000u}) {
    for (const std::uint64_t pieces : {1u, 2u, 3u, 7u, 64u}) {
      EXPECT_EQ(piece_begin(units, 0, pieces), 0u);
      EXPECT_EQ(piece_begin(units, pieces, pieces), units);
      for (std::uint64_t p = 0; p < pieces; ++p) {
        const std::uint64_t length = piece_begin(units, p + 1, pieces) - piece_begin(units, p, pieces);
        EXPECT_GE(length, units / pieces);
        EXPECT_LE(length, units / pieces + 1);
      }
    }
  }
  EXPECT_EQ(piece_begin(std::uint64_t{1} << 40, 3 << 18, 1 << 20), std::uint64_t{3} << 38) << "without overflow";
}

TEST(OpenMpTeam, DoesEachPieceOnceAndBeginsWithEachThreadsOwn) {
  omp_set_num_threads(3);
  OpenMpTeam team;
  EXPECT_EQ(team.threads(), 3);
  EXPECT_EQ(team.pieces(0, 32), 1u);
  EXPECT_EQ(team.pieces(2, 32), 2u);
  EXPECT_EQ(team.pieces(90, 32), 3u);
  EXPECT_EQ(team.pieces(1000, 32), 31u);
  EXPECT_EQ(team.pieces(1'000'000, 32), 48u);
  EXPECT_EQ(times_done(team, 31, 10), std::vector<int>(31, 10));
  std::atomic<int> begun = 0;
  team.share(3, [&](std::uint64_t piece, int thread) noexcept {
    ++begun;
    while (begun < 3) std::this_thread::yield();  // until each thread has its first piece
    EXPECT_EQ(static_cast<std::uint64_t>(thread), piece);
  });
}

TEST(OpenMpTeam, PiecesOfASlowThreadAreTakenByTheOthers) {
  omp_set_num_threads(3);
  OpenMpTeam team;
  std::atomic<int> done = 0;
  team.share(12, [&](std::uint64_t piece, int) noexcept {
    while (piece == 0 && done < 11) std::this_thread::yield();  // hangs if the others leave pieces to this thread
    ++done;
  });
  EXPECT_EQ(done, 12);
}

TEST(ThreadBinding, AThreadMayRunOnEachOfTheCoresItIsBoundToAndOnNoOther) {
  const std::vector<int> cpus = allowed_cpus();
  std::thread([&cpus] {
    EXPECT_EQ(bind_calling_thread(cpus), 0);
    EXPECT_EQ(allowed_cpus(), cpus);
    EXPECT_EQ(bind_calling_thread(cpus.back()), 0);
    EXPECT_EQ(allowed_cpus(), std::vector<int>{cpus.back()});
    EXPECT_EQ(bind_calling_thread(std::vector<int>{}), EINVAL);
    EXPECT_EQ(bind_calling_thread(std::vector<int>{cpus.front(), -1}), EINVAL);
    EXPECT_EQ(allowed_cpus(), std::vector<int>{cpus.back()}) << "a refusal changes nothing";
  }).join();
}

/// Acts as two processes: the test's thread borrows cores, and also lends them as their owner would.
class ElasticTeamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    sched_getaffinity(0, sizeof before_, &before_);
    cpus_ = allowed_cpus();
    if (cpus_.size() < 2) GTEST_SKIP() << "needs two cores: one to work on, one to be lent";
    home_ = {cpus_[0]};
    lender_ = CoreLender(shared_, {cpus_[1]});
  }
  void TearDown() override { sched_setaffinity(0, sizeof before_, &before_); }

  CoreBorrower borrower() { return {shared_, counter_}; }

  /// Shares two pieces that wait for each other, so that two threads must do them at the same time.
  void expect_a_guest_helps(ElasticTeam& team) {
    std::latch both(2);
    std::atomic<int> sum{0};
    team.share(2, [&](std::uint64_t, int thread) noexcept {
      both.arrive_and_wait();
      sum.fetch_add(thread);
    });
    EXPECT_EQ(sum.load(), 0 + 1) << "the caller and the guest";
  }

  /// Waits until the guests have left. The guests remain a moment longer than their pieces take, because a guest
  /// records its time and looks for another piece.
  void wait_until_guests_left() {
    while (borrower().guests_inside() != 0) std::this_thread::yield();
  }

  void expect_no_guest_helps(ElasticTeam& team) {
    wait_until_guests_left();
    team.share(100, [](std::uint64_t, int thread) noexcept { EXPECT_EQ(thread, 0); });
  }

  cpu_set_t before_;
  std::vector<int> cpus_;
  std::vector<int> home_;
  LentCores shared_;
  std::atomic<std::uint64_t> counter_{0};
  CoreLender lender_;
  std::atomic<std::int64_t> lent_ns_{0};
};

TEST_F(ElasticTeamTest, AGuestHelpsWhileTheCoreIsLentAndOnlyThen) {
  ElasticTeam team(home_, borrower(), lent_ns_);
  EXPECT_EQ(team.threads(), 2);
  EXPECT_EQ(team.guests(), 1);
  expect_no_guest_helps(team);
  EXPECT_EQ(lent_ns_.load(), 0);

  lender_.lend(1);
  expect_a_guest_helps(team);
  lender_.take_back();
  wait_until_guests_left();
  EXPECT_GT(lent_ns_.load(), 0);
  expect_no_guest_helps(team);

  lender_.lend(1);
  expect_a_guest_helps(team);
  counter_.store(1);  // the event for which the owner waited
  expect_no_guest_helps(team);
}

TEST_F(ElasticTeamTest, EveryPieceIsDoneOnceWhileTheCoreComesAndGoes) {
  ElasticTeam team(home_, borrower(), lent_ns_);
  std::atomic<bool> end{false};
  std::thread owner([&] {
    while (!end.load()) {
      lender_.lend(1);
      std::this_thread::yield();
      lender_.take_back();
    }
  });
  EXPECT_EQ(times_done(team, 64, 2000), std::vector<int>(64, 2000));
  EXPECT_EQ(times_done(team, 1, 2000), std::vector<int>(1, 2000));
  end.store(true);
  owner.join();
}

TEST_F(ElasticTeamTest, HomeThreadsShareWithoutAnyLoan) {
  ElasticTeam team(cpus_, borrower(), lent_ns_);
  EXPECT_EQ(team.threads(), static_cast<int>(cpus_.size())) << "the lent core is one of our own: no guest there";
  EXPECT_EQ(team.guests(), 0);
  EXPECT_EQ(times_done(team, 100, 200), std::vector<int>(100, 200));
  std::latch both(2);
  team.share(2, [&](std::uint64_t, int) noexcept { both.arrive_and_wait(); });
}

TEST_F(ElasticTeamTest, WhatAPieceStoredIsSeenByTheNextCall) {
  ElasticTeam team(home_, borrower(), lent_ns_);
  lender_.lend(1);
  // The values are not atomic, so that ThreadSanitizer checks the order of the accesses.
  std::vector<int> values(1000, 0);
  std::vector<int> next(values);
  for (int call = 1; call <= 100; ++call) {
    team.share(values.size(), [&](std::uint64_t piece, int) noexcept { next[piece] = values[999 - piece] + 1; });
    values.swap(next);
    ASSERT_EQ(values, std::vector<int>(1000, call));
  }
}

TEST_F(ElasticTeamTest, AGuestLeavesTheCoresOfAnOwnerThatIsReplaced) {
  ElasticTeam team(home_, borrower(), lent_ns_);
  lender_.lend(1);
  expect_a_guest_helps(team);
  CoreLender successor(shared_, {cpus_[0]});  // on this process's core, so that no core can be borrowed now
  successor.lend(1);
  expect_no_guest_helps(team);
  successor = CoreLender(shared_, {cpus_[1]});
  successor.lend(1);
  expect_a_guest_helps(team);
}

TEST_F(ElasticTeamTest, OfAListOfCoresOnlyThoseThatThereAreGetAThread) {
  std::vector<int> every_cpu;  // a hostile peer may send this
  for (int cpu = -1; cpu <= LentCores::kMaxCpus; ++cpu) every_cpu.push_back(cpu);
  lender_ = CoreLender(shared_, every_cpu);
  EXPECT_EQ(borrower().cpus().size(), static_cast<std::size_t>(LentCores::kMaxCpus));
  ElasticTeam team(home_, borrower(), lent_ns_);
  EXPECT_EQ(team.guests(), static_cast<int>(cpus_.size()) - 1);
  lender_.lend(1);
  EXPECT_EQ(times_done(team, 100, 100), std::vector<int>(100, 100));
}

TEST_F(ElasticTeamTest, ALentCoreThatMayNotBeUsedIsLeftAlone) {
  lender_ = CoreLender(shared_, {LentCores::kMaxCpus - 1});
  ElasticTeam team(home_, borrower(), lent_ns_);
  EXPECT_EQ(team.guests(), 0);
  EXPECT_EQ(team.threads(), 1);
  lender_.lend(1);
  expect_no_guest_helps(team);
}

TEST_F(ElasticTeamTest, AHomeCoreThatMayNotBeUsedIsRefused) {
  EXPECT_THROW(ElasticTeam({cpus_[0], LentCores::kMaxCpus - 1}, borrower(), lent_ns_), Error);
}

TEST_F(ElasticTeamTest, SmallWorkIsCutSmallerLargeWorkByItsGrain) {
  ElasticTeam team(home_, borrower(), lent_ns_);
  EXPECT_EQ(team.pieces(0, 32), 1u);
  EXPECT_EQ(team.pieces(3, 32), 3u);
  EXPECT_EQ(team.pieces(100, 32), 8u) << "four for each of two threads";
  EXPECT_EQ(team.pieces(3907, 32), 123u);
}

TEST_F(ElasticTeamTest, AnOwnerThatNeedsItsCoreWaitsForAGuestToFinish) {
  // The guest leaves a moment later than it should, so that an owner that did not wait would find the guest still
  // working. There are several rounds, because a guest may lose its core for longer than the owner waits.
  constexpr std::int64_t kMomentNs = 20'000;
  int waited_for = 0;
  for (int round = 0; round < 5000 && waited_for < 10; ++round) {
    lender_.lend(1);
    ASSERT_TRUE(borrower().enter());
    std::jthread guest([&] {
      while (borrower().lent()) std::this_thread::yield();
      for (const std::int64_t end = now_ns() + kMomentNs; now_ns() < end;) std::this_thread::yield();
      borrower().leave();
    });
    lender_.take_back();
    waited_for += borrower().guests_inside() == 0;
  }
  EXPECT_EQ(waited_for, 10);
}

TEST_F(ElasticTeamTest, AnOwnerWaitsOnlyBrieflyForAGuestThatWasKilled) {
  ASSERT_FALSE(borrower().lent());
  lender_.lend(1);
  ASSERT_TRUE(borrower().enter());  // this guest never leaves
  lender_.take_back();
  EXPECT_FALSE(borrower().lent());
  EXPECT_EQ(borrower().guests_inside(), 1u);
  borrower().forget_guests();
  EXPECT_EQ(borrower().guests_inside(), 0u);
}

}  // namespace
}  // namespace ringside
