// SPDX-License-Identifier: BSD-3-Clause
// When syncs begin. A delay that never ends shows that a sync began for another reason; no test measures a time.
#include "analyzer/ring/ring_syncer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>

#include "tests/unit/analyzer/ring/slow_disk.hpp"

namespace ringside {
namespace {

/// A syncer on a SlowDisk. Commit 1 was requested and is persisted, so a delay is in progress.
struct DelayedSyncer {
  explicit DelayedSyncer(SyncPace pace) : syncer(disk, persisted, pace) {
    disk.let(1);
    syncer.request(1);
    wait_until_persisted(1);
  }
  ~DelayedSyncer() { disk.let(1000); }

  void wait_until_persisted(std::uint64_t commit_seq) const {
    while (persisted.load() < commit_seq) std::this_thread::yield();
  }

  SlowDisk disk;
  std::atomic<std::uint64_t> persisted{0};
  RingSyncer syncer;
};

TEST(RingSyncerTest, ACommitAfterAPauseIsSyncedAtOnce) {
  SlowDisk disk;
  std::atomic<std::uint64_t> persisted{0};
  RingSyncer syncer(disk, persisted, {.batch = 100, .delay = kEndless});
  syncer.request(1);
  disk.wait_until_started(1);
  disk.let(1);
}

TEST(RingSyncerTest, DuringTheDelayOnlyAFullBatchIsSynced) {
  DelayedSyncer delayed({.batch = 3, .delay = kEndless});
  for (std::uint64_t k = 2; k <= 4; ++k) delayed.syncer.request(k);
  delayed.disk.wait_until_started(2);
  EXPECT_EQ(delayed.persisted.load(), 1u);
  delayed.disk.let(1);
  delayed.wait_until_persisted(2);
  EXPECT_EQ(delayed.persisted.load(), 4u) << "a sync began before its batch was full";
}

TEST(RingSyncerTest, ABatchOfOneIsNotDelayed) {
  DelayedSyncer delayed({.batch = 1, .delay = kEndless});
  for (std::uint64_t k = 2; k <= 10; ++k) {
    delayed.disk.let(1);
    delayed.syncer.request(k);
    delayed.wait_until_persisted(k);
  }
}

TEST(RingSyncerTest, TheLastCommitsBeforeAPauseArePersistedDuringThePause) {
  DelayedSyncer delayed({.batch = 1'000'000});
  delayed.disk.let(1'000'000);
  for (std::uint64_t k = 2; k <= 500; ++k) delayed.syncer.request(k);
  delayed.wait_until_persisted(500);  // no further request and no other call
  delayed.syncer.request(501);
  delayed.wait_until_persisted(501);
}

TEST(RingSyncerTest, AWriterThatWaitsDoesNotWaitForTheDelay) {
  DelayedSyncer delayed({.batch = 100, .delay = kEndless});
  delayed.disk.let(1);
  delayed.syncer.request(2);
  EXPECT_TRUE(delayed.syncer.wait_past(1));
  EXPECT_TRUE(delayed.syncer.wait_past(0));
}

TEST(RingSyncerTest, IfTheSyncInProgressEndsWithAnEarlierCommitTheNextSyncIsNotDelayed) {
  DelayedSyncer delayed({.batch = 100, .delay = kEndless});
  delayed.syncer.request(2);
  delayed.syncer.hurry();
  delayed.disk.wait_until_started(2);
  delayed.syncer.request(3);
  delayed.disk.let(2);
  EXPECT_TRUE(delayed.syncer.wait_past(2));
}

TEST(RingSyncerTest, HurryBeginsADelayedSyncAndDoesNotWaitForIt) {
  DelayedSyncer delayed({.batch = 100, .delay = kEndless});
  delayed.syncer.hurry();  // nothing is delayed
  delayed.syncer.request(2);
  delayed.syncer.hurry();
  delayed.disk.wait_until_started(2);
  EXPECT_EQ(delayed.persisted.load(), 1u);
  delayed.disk.let(1);
  delayed.wait_until_persisted(2);
}

TEST(RingSyncerTest, StopLeavesDelayedCommitsToItsCaller) {
  DelayedSyncer delayed({.batch = 100, .delay = kEndless});
  delayed.syncer.request(2);
  delayed.syncer.stop();
  EXPECT_EQ(delayed.persisted.load(), 1u);
  EXPECT_EQ(delayed.disk.started(), 1);
}

TEST(RingSyncerTest, AfterAFailedSyncNothingIsSynced) {
  DelayedSyncer delayed({.batch = 2, .delay = kEndless});
  delayed.disk.let(1, EIO);
  delayed.syncer.request(2);
  EXPECT_FALSE(delayed.syncer.wait_past(1));
  EXPECT_EQ(delayed.syncer.error(), EIO);
  for (std::uint64_t k = 3; k <= 10; ++k) delayed.syncer.request(k);
  delayed.syncer.hurry();
  EXPECT_FALSE(delayed.syncer.wait_past(1));
  delayed.syncer.stop();
  EXPECT_EQ(delayed.persisted.load(), 1u);
  EXPECT_EQ(delayed.disk.started(), 2);
}

TEST(RingSyncerTest, NoRequestIsLostWhileTheThreadFallsAsleep) {
  // Without a delay, only the request itself can wake the thread; a lost request lets this test wait forever.
  DelayedSyncer delayed({.batch = 3, .delay = {}});
  delayed.disk.let(1'000'000);
  for (std::uint64_t k = 2; k <= 20'000; ++k) {
    delayed.syncer.request(k);
    if (k % 3 == 0) delayed.wait_until_persisted(k);
  }
  delayed.wait_until_persisted(20'000);
}

TEST(RingSyncerTest, NoFullBatchIsLostWhileTheThreadFallsAsleep) {
  DelayedSyncer delayed({.batch = 2, .delay = kEndless});
  delayed.disk.let(1'000'000);
  std::uint64_t newest = 1;
  for (int round = 0; round < 10'000; ++round) {
    // At most one commit is delayed, so two requests make a batch.
    for (int i = 0; i < 2; ++i) delayed.syncer.request(++newest);
    delayed.wait_until_persisted(newest - 1);
  }
}

}  // namespace
}  // namespace ringside
