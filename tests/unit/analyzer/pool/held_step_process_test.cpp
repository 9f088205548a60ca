// SPDX-License-Identifier: BSD-3-Clause
// Steps that are held across processes: readers that are killed at each point while they take a hold, and a process
// that commits as fast as it can.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "bench/programs/held_views.hpp"
#include "common/files/slot_lease.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/child_process.hpp"
#include "tests/unit/sanitized.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using testing::ChildProcess;

constexpr std::uint64_t kSharedRows = 1'000;

class HeldAcrossProcessesTest : public ::testing::Test {
 protected:
  HeldAcrossProcessesTest() : pool_(RingPool::create(path_, RingShape::x_only(kSharedRows), 4)) {
    writer_.respect(pool_.leases());
    begin_x_only(writer_, run_of(kSharedRows));
    commit(4);
  }
  void commit(std::uint64_t steps) {
    for (; steps > 0; --steps) commit_iterate(writer_, ++newest_, kSharedRows);
  }
  void expect_lease_of_2_until_end_of(ChildProcess& reader) {
    ASSERT_TRUE(reader.worked());
    commit(10);
    EXPECT_EQ(kept(), (Iterations{2, 12, 13, 14}));
    reader.end();
    commit(2);
    EXPECT_EQ(kept(), (Iterations{13, 14, 15, 16}));
    EXPECT_EQ(writer_.leases_broken(), 0u);
  }
  Iterations kept() const { return kept_iterations(pool_.ring()); }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("x.pool");
  RingPool pool_;
  RingWriter writer_{pool_.ring(), pool_.persistence(), pool_.storage(), Durability::kProcess};
  std::uint64_t newest_ = 0;
};

TEST_F(HeldAcrossProcessesTest, TheLeaseOfAKilledReaderEnds) {
  ChildProcess reader([&] {
    static const RingReader opened = RingReader::open(path_);
    static HeldStep step;
    return opened.hold(2, step) == HoldOutcome::kHeld;
  });
  expect_lease_of_2_until_end_of(reader);
}

TEST_F(HeldAcrossProcessesTest, AReaderThatIsKilledBetweenItsLockAndItsSecondLookLeavesNothing) {
  ChildProcess reader([&] {
    static const RingReader opened = RingReader::open(path_);  // it has read the header of iteration 2
    static const UniqueFd fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    return take_lease(fd.get(), 1, Lease::kShared) == LeaseStatus::kTaken;
  });
  expect_lease_of_2_until_end_of(reader);
}

TEST_F(HeldAcrossProcessesTest, ManyReadersThatHangCostLeasesAndNoStep) {
  std::vector<std::unique_ptr<ChildProcess>> readers;
  for (int i = 0; i < 3; ++i) {
    readers.push_back(std::make_unique<ChildProcess>([&] {
      static const RingReader opened = RingReader::open(path_);
      static std::vector<HeldStep> steps(4);
      bool all = true;
      for (std::uint64_t k = 1; k <= 4; ++k) all = opened.hold(k, steps[k - 1]) == HoldOutcome::kHeld && all;
      return all;
    }));
    ASSERT_TRUE(readers.back()->worked());
  }
  commit(20);
  EXPECT_EQ(kept(), (Iterations{4, 22, 23, 24})) << "K - 3 = 1 lease is respected";
  EXPECT_EQ(writer_.leases_broken(), 3u);
  readers.clear();
  commit(4);
  EXPECT_EQ(kept(), (Iterations{25, 26, 27, 28}));
  EXPECT_EQ(writer_.leases_broken(), 3u);
}

TEST(HeldAcrossOwnersTest, TheNextAnalyzerRespectsALeaseThatItFinds) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("x.pool");
  std::optional<RingReader> reader;
  HeldStep step;
  std::uint64_t k = 0;
  for (int owner = 1; owner <= 3; ++owner) {
    const RingPool pool = k == 0 ? RingPool::create(path, RingShape::x_only(kSharedRows), 4) : RingPool::open(path);
    RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kProcess);
    writer.respect(pool.leases());
    const auto newest = begin_x_only(writer, run_of(kSharedRows));
    EXPECT_EQ(newest ? newest->header.iteration : 0, k);
    for (int i = 0; i < 6; ++i) commit_iterate(writer, ++k, kSharedRows);
    if (!reader) {
      reader = RingReader::open(path);
      ASSERT_EQ(reader->hold(4, step), HoldOutcome::kHeld);
    } else {
      EXPECT_EQ(kept_iterations(pool.ring()), (Iterations{4, k - 2, k - 1, k}));
      EXPECT_EQ(recover(pool.ring()).contiguous, 3u);
    }
    EXPECT_EQ(writer.leases_broken(), 0u);
  }
  EXPECT_EQ(step.release(), HeldStatus::kOk);
}

class FastWriterTest : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(FastWriterTest, NoViewThatMixesTwoStepsPassesItsCheck) {
  constexpr std::uint64_t kViews = ringside::testing::kSanitized ? 500 : 5'000;
  constexpr std::uint64_t kWaitEvery = 50;
  const std::uint32_t slots = GetParam();
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("x.pool");
  std::optional<bench::FastWriter> writer(std::in_place, path, slots, 2'000);
  const RingReader reader = RingReader::open(path);
  const bench::HeldViews views = bench::hold_views(reader, kViews, kWaitEvery);
  EXPECT_EQ(views.held, kViews);
  EXPECT_EQ(views.torn, 0u);
  EXPECT_EQ(views.intact + views.overwritten, kViews);
  // After a wait of 2 K steps, the state of a view is certain: a ring of three slots respects no lease, but a ring of
  // eight slots does.
  EXPECT_EQ(views.waited_intact, slots == 3 ? 0u : kViews / kWaitEvery);
  EXPECT_EQ(views.waited_overwritten, slots == 3 ? kViews / kWaitEvery : 0u);
  if (slots == 8) {
    EXPECT_EQ(writer->leases_broken(), 0u);
    EXPECT_EQ(views.overwritten, 0u);
  }
  writer.reset();
  const Recovery found = reader.recover();
  EXPECT_GE(found.kept.size() + 1, slots);
  for (const KeptSlot& kept : found.kept) EXPECT_TRUE(reader.verify(kept).intact());
}

INSTANTIATE_TEST_SUITE_P(Slots, FastWriterTest, ::testing::Values(3, 8));

}  // namespace
}  // namespace ringside
