// SPDX-License-Identifier: BSD-3-Clause
// The times at which commits are persisted: the thread that syncs, the effect of a failed sync, and the commits that a
// writer keeps after a power cut. The disk is simulated: a sync ends when the test permits the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

#include "analyzer/ring/ring_writer.hpp"
#include "common/platform/error.hpp"
#include "common/ring/ring_recovery.hpp"
#include "tests/unit/analyzer/ring/held_slots.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/analyzer/ring/slow_disk.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

/// A ring on a SlowDisk, in a run of 100 rows. Up to now, only the beginning of the run is synced.
struct SlowRing {
  explicit SlowRing(std::uint32_t slots) : memory(100, slots) {
    disk.let(1);
    writer.delay_syncs(kEndless);
    begin_x_only(writer, run_of(100));
  }

  /// Commits iterations `first` to `last`, of which the last one must begin a sync, and waits for that sync.
  void commit_and_persist(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t k = first; k <= last; ++k) commit_iterate(writer, k, 100);
    disk.let(1);
    wait_until_persisted(last);
  }
  void wait_until_persisted(std::uint64_t k) const {
    while (writer.persisted() < k) std::this_thread::yield();
  }

  RingInMemory memory;
  SlowDisk disk;
  RingWriter writer{memory.ring(), disk, Storage::kFile, Durability::kPower};
};

/// A file system in memory: a sync returns at once.
class MemoryDisk : public ObservedPersistence {
 public:
  bool syncs_at_once() const noexcept override { return true; }
  int sync() noexcept override {
    ++syncs;
    return error != 0 ? error : ObservedPersistence::sync();
  }
  int syncs = 0;
  int error = 0;
};

/// A persistence that loses pages when the test requests a loss.
class LostPages : public ObservedPersistence {
 public:
  int store_error() const noexcept override { return error; }
  int error = 0;
};

TEST(RingDurabilityTest, AnIterateOfWhichAPageWasLostGetsNoHeader) {
  RingInMemory memory(100, 3);
  LostPages persistence;
  RingWriter writer(memory.ring(), persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(100));
  commit_iterate(writer, 1, 100);
  ASSERT_EQ(writer.begin(), CommitStatus::kOk);
  const std::vector<double> second = iterate(2, 100);
  writer.copy(second.data(), {.descriptor = {.step = 1, .iteration = 2}});
  persistence.error = EIO;
  EXPECT_EQ(writer.commit(), CommitStatus::kSyncFailed);
  EXPECT_EQ(writer.committed(), 1u);
  EXPECT_EQ(recover(memory.ring()).newest_iteration(), 1u) << "readers see the iterate before";
}

TEST(RingDurabilityTest, ASuccessorPersistsTheHeadersItFindsBeforeItStoresAnything) {
  // A writer that is killed after the stores of its commit and before their flush leaves a header that is visible but
  // not persistent.
  XOnlyRing ring(100, 3, 3);
  RingWriter writer = ring.next_writer();
  ring.memory.persistence.observe(ring.memory.at(0));
  begin_x_only(writer, run_of(100, 50));
  std::vector<std::uint64_t> flushed;
  bool drained = false;
  for (const PersistenceEvent& event : ring.memory.persistence.take()) {
    if (event.event == Event::kStore) break;
    if (event.event == Event::kFlush) flushed.push_back(event.offset);
    drained = event.event == Event::kDrain;
  }
  EXPECT_TRUE(drained);
  for (const SlotPlace& place : ring.memory.geometry().slots) {
    EXPECT_EQ(std::count(flushed.begin(), flushed.end(), place.meta_offset), 1);
  }
}

TEST(RingDurabilityTest, AHeaderWhosePayloadWasLostIsNotWhatIsKept) {
  // After power loss on a plain file: the headers of 2 and 3 reached the disk, their payloads did not. Commit 1 is the
  // only intact one, and must be kept until one of the next commits is persisted.
  constexpr std::uint64_t kRows = 20'000;
  XOnlyRing ring(kRows, 3, 3);
  const Recovery recovery = recover(ring.memory.ring());
  for (std::size_t lost : {1u, 2u})
    ring.memory.flip_bit(ring.memory.geometry().slots[recovery.kept[lost].slot].payload_offset + 70'000);
  EXPECT_EQ(newest_intact(ring.memory.ring(), recovery)->header.iteration, 1u);

  SlowDisk disk;
  disk.let(1);  // the sync of begin_run
  RingWriter writer(ring.memory.ring(), disk, Storage::kFile, Durability::kPower);
  begin_x_only(writer, run_of(kRows));
  EXPECT_EQ(writer.persisted(), 1u);
  EXPECT_EQ(writer.run_persisted(), 0u);
  commit_iterate(writer, 2, kRows);
  commit_iterate(writer, 3, kRows);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{1, 2, 3}));
  EXPECT_EQ(recover(ring.memory.ring()).newest_seq(), 5u);
  EXPECT_EQ(writer.run_committed(), 2u);
  disk.let(9);
  EXPECT_EQ(writer.finish(), 0);
  EXPECT_EQ(writer.run_persisted(), 2u);
}

TEST(RingDurabilityTest, TheNewestPersistedIterateIsNotOverwrittenBeforeANewerOneIs) {
  SlowRing ring(3);
  commit_iterate(ring.writer, 1, 100);
  ring.disk.let(1);  // 1 is persisted
  ring.disk.wait_until_started(2);
  while (ring.writer.persisted() < 1) std::this_thread::yield();
  commit_iterate(ring.writer, 2, 100);  // the disk hangs from here on
  ring.disk.wait_until_started(3);
  commit_iterate(ring.writer, 3, 100);
  EXPECT_EQ(ring.writer.persisted(), 1u);

  std::promise<void> begins;
  std::thread other([&] {
    begins.get_future().wait();
    ring.disk.let(1);  // 2 is persisted: now 1 may be overwritten
  });
  std::uint64_t persisted_when_invalidated = 0;
  ring.disk.on_invalidation = [&] { persisted_when_invalidated = ring.writer.persisted(); };
  begins.set_value();
  EXPECT_EQ(ring.writer.begin(), CommitStatus::kOk);
  other.join();
  EXPECT_GE(persisted_when_invalidated, 2u);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{2, 3}));
  ring.disk.let(9);
  EXPECT_EQ(ring.writer.finish(), 0);
}

TEST(RingDurabilityTest, NothingIsOverwrittenWhileNothingNewerIsPersisted) {
  // This test has no second thread. The step in each slot that `begin` takes must be older than the newest step that is
  // persisted at that moment.
  SlowRing ring(4);
  ring.disk.let(1000);
  for (std::uint64_t k = 1; k <= 200; ++k) {
    const Recovery before = recover(ring.memory.ring());
    ASSERT_EQ(ring.writer.begin(), CommitStatus::kOk);
    if (before.kept.size() == 4) {
      EXPECT_LT(before.kept.front().header.commit_seq, ring.writer.persisted());
    }
    ring.writer.copy(iterate(k, 100).data(), step_of(k));
    ASSERT_EQ(ring.writer.commit(), CommitStatus::kOk);
  }
  EXPECT_EQ(ring.writer.finish(), 0);
  EXPECT_EQ(ring.writer.persisted(), 200u);
}

TEST(RingDurabilityTest, IfAReaderHoldsAllThatMayGoItsLeaseIsBrokenAndTheDiskIsNotWaitedFor) {
  HeldSlots leases;
  SlowRing ring(4);
  ring.writer.respect(leases);
  for (std::uint64_t k = 1; k <= 2; ++k) {
    commit_iterate(ring.writer, k, 100);
    ring.disk.let(1);
    while (ring.writer.persisted() < k) std::this_thread::yield();
  }
  commit_iterate(ring.writer, 3, 100);  // the disk hangs from here on
  commit_iterate(ring.writer, 4, 100);
  leases.hold({0});
  ASSERT_EQ(ring.writer.begin(), CommitStatus::kOk);  // slot 1 could be taken, but has the newest persisted step
  EXPECT_EQ(ring.writer.leases_broken(), 1u);
  EXPECT_EQ(ring.writer.persisted(), 2u);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{2, 3, 4}));
  ring.disk.let(9);
  EXPECT_EQ(ring.writer.finish(), 0);
}

TEST(RingDurabilityTest, AFailedSyncIsReportedAndNeverRetried) {
  SlowRing ring(3);
  commit_iterate(ring.writer, 1, 100);
  ring.disk.let(100, EIO);
  while (ring.writer.sync_error() == 0) std::this_thread::yield();
  EXPECT_EQ(ring.writer.begin(), CommitStatus::kSyncFailed);
  EXPECT_EQ(ring.writer.persisted(), 0u);
  EXPECT_EQ(ring.writer.finish(), EIO);
  EXPECT_EQ(ring.writer.finish(), EIO);
  EXPECT_EQ(ring.writer.sync_error(), EIO);
  EXPECT_EQ(ring.disk.started(), 2);
  EXPECT_NE(failure_line([&] { begin_x_only(ring.writer, run_of(100)); }, ExitCode::kSystem), "")
      << "a disk that lost something served another run";
}

TEST(RingDurabilityTest, AFailedSyncWakesWhoWaitsForIt) {
  SlowRing ring(3);
  for (std::uint64_t k = 1; k <= 3; ++k) commit_iterate(ring.writer, k, 100);
  CommitStatus status = CommitStatus::kOk;
  std::thread other([&] { status = ring.writer.begin(); });
  ring.disk.let(1, EIO);
  other.join();
  EXPECT_EQ(status, CommitStatus::kSyncFailed);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{1, 2, 3}));
}

TEST(RingDurabilityTest, InARingOfThreeNoSyncIsDelayed) {
  SlowRing ring(3);
  for (std::uint64_t k = 1; k <= 4; ++k) ring.commit_and_persist(k, k);
  EXPECT_EQ(ring.disk.started(), 1 + 4);
  ring.disk.let(1);
  EXPECT_EQ(ring.writer.finish(), 0);
}

TEST(RingDurabilityTest, InARingOfEightThreeCommitsShareASync) {
  SlowRing ring(8);
  ring.commit_and_persist(1, 1);
  for (std::uint64_t k = 2; k <= 20; k += 3) ring.commit_and_persist(k, k + 2);
  EXPECT_EQ(ring.disk.started(), 1 + 1 + 7);
  ring.disk.let(1);
  EXPECT_EQ(ring.writer.finish(), 0);
}

TEST(RingDurabilityTest, FinishPersistsTheCommitsWhoseSyncIsDelayed) {
  SlowRing ring(8);
  ring.commit_and_persist(1, 1);
  commit_iterate(ring.writer, 2, 100);
  commit_iterate(ring.writer, 3, 100);
  EXPECT_EQ(ring.writer.persisted(), 1u);
  ring.disk.let(1);
  EXPECT_EQ(ring.writer.finish(), 0);
  EXPECT_EQ(ring.writer.persisted(), 3u);
  EXPECT_EQ(ring.disk.started(), 1 + 1 + 1);
}

TEST(RingDurabilityTest, WhileAStepIsHeldNoSyncIsDelayed) {
  HeldSlots leases;
  SlowRing ring(8);
  ring.writer.respect(leases);
  ring.commit_and_persist(1, 1);
  ring.commit_and_persist(2, 4);
  ring.commit_and_persist(5, 7);
  ring.commit_and_persist(8, 10);  // slot 2 has the oldest step
  leases.hold({2});
  for (std::uint64_t k = 11; k <= 20; ++k) ring.commit_and_persist(k, k);
  EXPECT_EQ(kept_iterations(ring.memory.ring()).front(), 3u);
  EXPECT_EQ(ring.writer.leases_broken(), 0u);
  leases.hold({});
  for (std::uint64_t k = 21; k <= 27; ++k) ring.commit_and_persist(k, k);  // the rest of a round of the ring
  ring.commit_and_persist(28, 30);
  ring.disk.let(1);
  EXPECT_EQ(ring.writer.finish(), 0);
}

/// Commits 1 to 9, with the syncs of 8 and 9 delayed. Then 2 to 6 are held, which is all that is older than the newest
/// persisted step. The ring has 8 slots.
void hold_all_but_delayed(SlowRing& ring, HeldSlots& leases) {
  ring.writer.respect(leases);
  ring.commit_and_persist(1, 1);
  ring.commit_and_persist(2, 4);
  ring.commit_and_persist(5, 7);
  commit_iterate(ring.writer, 8, 100);  // the syncs of 8 and 9 are delayed
  commit_iterate(ring.writer, 9, 100);
  EXPECT_EQ(ring.writer.persisted(), 7u);
  leases.hold({1, 2, 3, 4, 5});  // 2 to 6, which is all that is older than the newest persisted step
}

TEST(RingDurabilityTest, NoLeaseIsBrokenBecauseASyncIsDelayed) {
  HeldSlots leases;
  SlowRing ring(8);
  hold_all_but_delayed(ring, leases);
  ring.disk.let(1);
  ring.writer.choose_next();
  ring.wait_until_persisted(9);
  ring.commit_and_persist(10, 10);
  EXPECT_EQ(ring.writer.leases_broken(), 0u);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{2, 3, 4, 5, 6, 8, 9, 10}));
  ring.disk.let(1);
  EXPECT_EQ(ring.writer.finish(), 0);
}

TEST(RingDurabilityTest, IfNoSlotIsFreeTheNextStepWaitsOnceForADelayedSync) {
  HeldSlots leases;
  SlowRing ring(8);
  hold_all_but_delayed(ring, leases);
  ring.writer.choose_next();
  std::thread next([&] { ring.commit_and_persist(10, 10); });
  ring.disk.let(2);
  next.join();
  EXPECT_EQ(ring.writer.leases_broken(), 0u);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{2, 3, 4, 5, 6, 8, 9, 10}));
  ring.disk.let(1);
  EXPECT_EQ(ring.writer.finish(), 0);
}

TEST(RingDurabilityTest, InAFileSystemInMemoryACommitIsPersistedWhenItReturns) {
  RingInMemory memory(100, 8);
  MemoryDisk disk;
  RingWriter writer(memory.ring(), disk, Storage::kFile, Durability::kPower);
  begin_x_only(writer, run_of(100));
  for (std::uint64_t k = 1; k <= 20; ++k) {
    commit_iterate(writer, k, 100);
    EXPECT_EQ(writer.persisted(), k);
  }
  disk.observe(memory.at(0));
  store_reductions(writer, Reductions{});
  EXPECT_EQ(writer.finish(), 0);
  EXPECT_EQ(disk.take().back().event, Event::kSync) << "the results of the last step were not synced";
  const int syncs = disk.syncs;
  EXPECT_EQ(writer.finish(), 0);
  EXPECT_EQ(disk.syncs, syncs) << "no run is in progress";
}

TEST(RingDurabilityTest, AFailedSyncInMemoryIsReportedByItsCommitAndNeverRetried) {
  RingInMemory memory(100, 8);
  MemoryDisk disk;
  RingWriter writer(memory.ring(), disk, Storage::kFile, Durability::kPower);
  begin_x_only(writer, run_of(100));
  commit_iterate(writer, 1, 100);
  disk.error = EIO;
  ASSERT_EQ(writer.begin(), CommitStatus::kOk);
  writer.copy(iterate(2, 100).data(), step_of(2));
  EXPECT_EQ(writer.commit(), CommitStatus::kSyncFailed);
  EXPECT_EQ(writer.persisted(), 1u);
  EXPECT_EQ(writer.sync_error(), EIO);
  const int syncs = disk.syncs;
  disk.error = 0;
  EXPECT_EQ(writer.begin(), CommitStatus::kSyncFailed);
  EXPECT_EQ(writer.finish(), EIO);
  EXPECT_EQ(writer.finish(), EIO);
  EXPECT_EQ(writer.persisted(), 1u);
  EXPECT_EQ(disk.syncs, syncs);
}

TEST(RingDurabilityTest, DurabilityProcessSyncsNothingInMemoryEither) {
  RingInMemory memory(100);
  MemoryDisk disk;
  RingWriter writer(memory.ring(), disk, Storage::kFile, Durability::kProcess);
  begin_x_only(writer, run_of(100));
  for (std::uint64_t k = 1; k <= 10; ++k) commit_iterate(writer, k, 100);
  EXPECT_EQ(writer.finish(), 0);
  EXPECT_EQ(writer.persisted(), 0u);
  EXPECT_EQ(disk.syncs, 0);
}

TEST(RingDurabilityTest, DurabilityProcessNeverAsksTheDisk) {
  RingInMemory memory(100);
  SlowDisk disk;  // a sync would hang
  RingWriter writer(memory.ring(), disk, Storage::kFile, Durability::kProcess);
  begin_x_only(writer, run_of(100));
  for (std::uint64_t k = 1; k <= 10; ++k) commit_iterate(writer, k, 100);
  EXPECT_EQ(writer.finish(), 0);
  EXPECT_EQ(writer.persisted(), 0u);
  EXPECT_EQ(writer.run_committed(), 10u);
  EXPECT_EQ(disk.started(), 0);
}

TEST(RingDurabilityTest, FinishSyncsWhatWasRecordedAfterTheLastCommit) {
  RingInMemory memory(100);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kFile, Durability::kPower);
  begin_x_only(writer, run_of(100));
  commit_iterate(writer, 1, 100);
  memory.persistence.observe(memory.at(0));
  store_reductions(writer, Reductions{});
  EXPECT_EQ(writer.finish(), 0);
  const std::vector<PersistenceEvent> events = memory.persistence.take();
  EXPECT_EQ(events.back().event, Event::kSync);
  EXPECT_EQ(writer.persisted(), 1u);
}

}  // namespace
}  // namespace ringside
