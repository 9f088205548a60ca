// SPDX-License-Identifier: BSD-3-Clause
// The commit protocol, with a ring in ordinary memory. Here, "after a crash" means that another writer or view uses the
// current bytes; tests/crash tests which bytes a crash may leave.
#include "analyzer/ring/ring_writer.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <vector>

#include "common/ring/ring_recovery.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {
namespace {

const double* doubles(const std::byte* payload) {
  return reinterpret_cast<const double*>(payload);
}

TEST(RingWriterTest, WhatWasCommittedIsThere) {
  constexpr std::uint64_t kRows = 20'000;  // two chunks and a part of a third one
  XOnlyRing ring(kRows, 3, 1);

  const RingView view = ring.memory.ring();
  const Recovery recovery = recover(view);
  ASSERT_EQ(recovery.kept.size(), 1u);
  const auto& [slot, header] = recovery.kept[0];
  EXPECT_EQ(header.commit_seq, 1u);
  EXPECT_EQ(header.iteration, 1u);
  EXPECT_EQ(header.step, 0u);
  EXPECT_EQ(header.run_id, (Id128{7, 8}));
  EXPECT_TRUE(check_payload(view, slot, header).intact());
  EXPECT_EQ(std::memcmp(view.payload(slot), iterate(1, kRows).data(), kRows * 8), 0);
  EXPECT_EQ(text_of(view.run(header.run_id)->solver), "pagerank");
  EXPECT_EQ(ring.writer.committed(), 1u);
  EXPECT_EQ(ring.writer.persisted(), 1u);  // on DAX, the fences have persisted it
}

TEST(RingWriterTest, AfterWrappingTheNewestKAreKeptInOrder) {
  RingInMemory memory(100, 5);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kProcess);
  begin_x_only(writer, run_of(100));
  for (std::uint64_t k = 1; k <= 23; ++k) {
    commit_iterate(writer, k, 100);
    const Recovery recovery = recover(memory.ring());
    EXPECT_EQ(recovery.kept.size(), std::min<std::uint64_t>(k, 5));
    EXPECT_EQ(recovery.contiguous, recovery.kept.size());
    EXPECT_EQ(recovery.newest_seq(), k);
  }
  EXPECT_EQ(kept_iterations(memory.ring()), (Iterations{19, 20, 21, 22, 23}));
}

TEST(RingWriterTest, WhileACommitIsUnderWayTheOtherSlotsStayContiguous) {
  XOnlyRing ring(20'000, 3, 7);
  ASSERT_EQ(ring.writer.begin(), CommitStatus::kOk);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{6, 7}));
  ring.writer.copy(iterate(8, 20'000).data(), step_of(8));
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{6, 7}));
  ASSERT_EQ(ring.writer.commit(), CommitStatus::kOk);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{6, 7, 8}));
}

TEST(RingWriterTest, TheProtocolHasItsThreeFencesInOrder) {
  constexpr std::uint64_t kRows = 2 * kChunkBytes / sizeof(double) + 100;
  omp_set_num_threads(1);
  XOnlyRing ring(kRows);
  const SlotPlace place = ring.memory.geometry().slots[0];
  const std::uint64_t table = place.meta_offset + ring.memory.geometry().chunk_hashes_offset();
  const std::uint64_t seq = place.meta_offset + offsetof(SlotHeader, commit_seq);
  ring.memory.persistence.observe(ring.memory.at(0));

  ring.writer.begin();
  std::vector<PersistenceEvent> events = ring.memory.persistence.take();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_TRUE(events[0].event == Event::kStore && events[0].offset == seq && events[0].value == 0);
  EXPECT_TRUE(events[1].event == Event::kFlush && events[1].offset == seq);
  EXPECT_EQ(events[2].event, Event::kDrain);

  ring.writer.copy(iterate(1, kRows).data(), step_of(1));
  events = ring.memory.persistence.take();
  ASSERT_EQ(events.size(), 17u);  // eight words of the step, a flush; for each of 3 chunks, copy and hash
  for (std::uint64_t word = 0; word < 8; ++word) {
    EXPECT_TRUE(events[word].event == Event::kStore &&
                events[word].offset == place.meta_offset + kStepOffset + 8 * word);
  }
  EXPECT_TRUE(events[8].event == Event::kFlush && events[8].offset == place.meta_offset + kStepOffset);
  for (std::uint64_t chunk = 0; chunk < 3; ++chunk) {
    EXPECT_EQ(events[9 + 2 * chunk].event, Event::kCopy);
    EXPECT_EQ(events[9 + 2 * chunk].offset, place.payload_offset + chunk * kChunkBytes);
    EXPECT_EQ(events[10 + 2 * chunk].event, Event::kStore);
    EXPECT_EQ(events[10 + 2 * chunk].offset, table + 8 * chunk);
  }
  EXPECT_TRUE(events[15].event == Event::kFlush && events[15].offset == table && events[15].bytes == 24);
  EXPECT_EQ(events[16].event, Event::kDrain);

  ring.writer.commit();
  events = ring.memory.persistence.take();
  ASSERT_EQ(events.size(), 10u);  // eight words of the header, commit_seq last
  for (std::uint64_t word = 0; word < 8; ++word) {
    EXPECT_EQ(events[word].event, Event::kStore);
    EXPECT_EQ(events[word].offset, place.meta_offset + 8 * word);
  }
  EXPECT_EQ(events[7].value, 1u);
  EXPECT_TRUE(events[8].event == Event::kFlush && events[8].offset == place.meta_offset && events[8].bytes == 64);
  EXPECT_EQ(events[9].event, Event::kDrain);
}

TEST(RingWriterTest, EveryThreadDrainsItsOwnStores) {
  omp_set_num_threads(3);
  XOnlyRing ring(100'000);
  ring.writer.begin();
  ring.memory.persistence.observe(ring.memory.at(0));
  ring.writer.copy(iterate(1, 100'000).data(), step_of(1));
  int copies = 0;
  int drains = 0;
  for (const PersistenceEvent& event : ring.memory.persistence.take()) {
    copies += event.event == Event::kCopy;
    drains += event.event == Event::kDrain;
    if (event.event == Event::kCopy) {
      EXPECT_EQ(event.offset % 256, 0u);
    }
  }
  EXPECT_EQ(static_cast<std::uint64_t>(copies), ring.memory.geometry().chunk_count());
  EXPECT_EQ(drains, 3);
  omp_set_num_threads(1);
}

TEST(RingWriterTest, TheBytesDoNotDependOnTheNumberOfThreads) {
  std::vector<std::vector<std::byte>> images;
  for (int threads : {1, 2, 3, 7}) {
    omp_set_num_threads(threads);
    const XOnlyRing ring(100'000, 3, 4);
    images.emplace_back(ring.memory.bytes().begin(), ring.memory.bytes().end());
  }
  omp_set_num_threads(1);
  for (const auto& image : images) EXPECT_TRUE(image == images[0]);
}

TEST(RingWriterTest, AnyChangedBitOfAHeaderTakesItsSlotAway) {
  XOnlyRing ring(100, 3, 3);
  const KeptSlot newest = ring.newest_kept();
  const std::uint64_t header = ring.memory.geometry().slots[newest.slot].meta_offset;
  for (std::uint64_t bit = 0; bit < 512; ++bit) {
    ring.memory.flip_bit(header + bit / 8, static_cast<int>(bit % 8));
    EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{1, 2})) << "bit " << bit;
    ring.memory.flip_bit(header + bit / 8, static_cast<int>(bit % 8));
  }
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{1, 2, 3}));
}

TEST(RingWriterTest, AWriterThatDiedHalfWayCostsOnlyTheVictim) {
  XOnlyRing ring(20'000, 4, 6);
  ring.writer.begin();
  ring.writer.copy(iterate(7, 20'000).data(), step_of(7));
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{4, 5, 6}));
  RingWriter writer = ring.next_writer();
  EXPECT_EQ(writer.committed(), 6u);
  begin_x_only(writer, run_of(20'000));
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{4, 5, 6}));
  commit_iterate(writer, 7, 20'000);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{4, 5, 6, 7}));
  EXPECT_EQ(writer.committed(), 7u);
  EXPECT_EQ(writer.run_committed(), 1u);
}

TEST(RingWriterTest, ADamagedHeaderIsOverwrittenBeforeAnythingElse) {
  XOnlyRing ring(100, 4, 4);
  ring.memory.flip_bit(ring.memory.geometry().slots[recover(ring.memory.ring()).kept[2].slot].meta_offset);
  EXPECT_EQ(recover(ring.memory.ring()).contiguous, 1u);
  RingWriter writer = ring.next_writer();
  begin_x_only(writer, run_of(100));
  commit_iterate(writer, 5, 100);
  EXPECT_EQ(kept_iterations(ring.memory.ring()), (Iterations{1, 2, 4, 5}));
}

TEST(RingWriterTest, ThePreviousIterateIsTheOneBeforeInTheSameRun) {
  XOnlyRing ring(100);
  EXPECT_EQ(ring.writer.previous_payload(), nullptr);
  commit_iterate(ring.writer, 1, 100);
  EXPECT_EQ(ring.writer.previous_payload(), nullptr);
  EXPECT_EQ(doubles(ring.writer.payload())[5], iterate(1, 100)[5]);
  commit_iterate(ring.writer, 2, 100);
  EXPECT_EQ(doubles(ring.writer.previous_payload())[5], iterate(1, 100)[5]);
  EXPECT_EQ(doubles(ring.writer.payload())[5], iterate(2, 100)[5]);

  begin_x_only(ring.writer, run_of(100));  // the same run is resumed
  ring.writer.begin();
  EXPECT_EQ(doubles(ring.writer.previous_payload())[5], iterate(2, 100)[5]);
  begin_x_only(ring.writer, run_of(100, 50));  // another run
  ring.writer.begin();
  EXPECT_EQ(ring.writer.previous_payload(), nullptr);
}

TEST(RingWriterTest, ReductionsBelongToOneCommit) {
  XOnlyRing ring(100);
  Reductions reductions;
  const auto state = [&] {
    const KeptSlot newest = ring.newest_kept();
    return ring.memory.ring().reductions(newest.slot, newest.header, reductions);
  };
  for (std::uint64_t k = 1; k <= 5; ++k) {
    commit_iterate(ring.writer, k, 100);
    EXPECT_EQ(state(), ResultsState::kNotRecorded);
    Reductions computed;
    computed.sum = static_cast<double>(k);
    store_reductions(ring.writer, computed);
    EXPECT_EQ(state(), ResultsState::kRecorded);
    EXPECT_EQ(reductions.sum, static_cast<double>(k));
  }
  const KeptSlot newest = ring.newest_kept();
  ring.memory.flip_bit(ring.memory.geometry().slots[newest.slot].meta_offset + ring.memory.geometry().results_offset() +
                       sizeof(ResultsHead) + 9);
  EXPECT_EQ(state(), ResultsState::kDamaged);
}

TEST(RingWriterTest, ReductionsOfAnEarlierCommitWithTheSameNumberAreNotTakenForDamage) {
  XOnlyRing ring(100, 3, 1);
  store_reductions(ring.writer, Reductions{});
  ring.memory.flip_bit(ring.memory.geometry().slots[0].meta_offset);  // commit 1 is lost; its number may be used again
  RingWriter writer = ring.next_writer();
  begin_x_only(writer, run_of(100));
  commit_iterate(writer, 2, 100);
  const KeptSlot newest = ring.newest_kept();
  ASSERT_EQ(newest.slot, 0u);
  ASSERT_EQ(newest.header.commit_seq, 1u);
  Reductions reductions;
  EXPECT_EQ(ring.memory.ring().reductions(newest.slot, newest.header, reductions), ResultsState::kNotRecorded);
}

TEST(RingWriterTest, EveryKeptIterateKeepsTheDescriptionOfItsRun) {
  RingInMemory memory(100, 3);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  for (std::uint64_t run = 1; run <= 20; ++run) {
    begin_x_only(writer, run_of(100, 1000 + run));
    if (run % 4 == 0) continue;  // a run that never commits
    commit_iterate(writer, run, 100);
    const RingView ring = memory.ring();
    for (const KeptSlot& kept : recover(ring).kept) EXPECT_TRUE(ring.run(kept.header.run_id)) << run;
    EXPECT_EQ(ring.runs().back().run.run_id.high, 1000 + run);
  }
}

TEST(RingWriterTest, RecoveryTwiceIsRecoveryOnceAndChangesNoByte) {
  XOnlyRing ring(20'000, 4, 6);
  ring.writer.begin();
  const std::vector<std::byte> before(ring.memory.bytes().begin(), ring.memory.bytes().end());
  for (int time = 0; time < 3; ++time) {
    const RingWriter writer = ring.next_writer();
    EXPECT_EQ(writer.committed(), 6u);
    EXPECT_EQ(kept_iterations(writer.ring()), (Iterations{4, 5, 6}));
    EXPECT_TRUE(std::equal(before.begin(), before.end(), ring.memory.bytes().begin()));
  }
}

TEST(RingWriterTest, ClearingForgetsTheOldestFirst) {
  // A writer that dies while it clears the ring leaves contiguous iterates.
  XOnlyRing ring(100, 4, 6);  // the slots keep 5, 6, 3, 4
  ring.memory.persistence.observe(ring.memory.at(0));
  ring.writer.clear();
  std::vector<std::uint64_t> cleared;
  for (const PersistenceEvent& event : ring.memory.persistence.take()) {
    const std::uint64_t header = event.offset / kLineBytes * kLineBytes;
    if (event.event == Event::kStore && (cleared.empty() || cleared.back() != header)) cleared.push_back(header);
  }
  const std::vector<SlotPlace>& slots = ring.memory.geometry().slots;
  EXPECT_EQ(cleared, (std::vector<std::uint64_t>{slots[2].meta_offset, slots[3].meta_offset, slots[0].meta_offset,
                                                 slots[1].meta_offset}));
}

TEST(RingWriterTest, AClearedHeaderIsNotMadeValidByItsNumber) {
  // The next owner numbers its commits from 1 again. If a header's commit_seq reaches the disk before the other words
  // of this header, the old words must not match it.
  XOnlyRing ring(100, 3, 1);
  ring.writer.clear();
  ring.memory.ring().header(0)->commit_seq = 1;
  EXPECT_EQ(ring.memory.ring().slot(0).state, SlotState::kDamagedHeader);
}

TEST(RingWriterTest, ClearingEndsTheRunThatGoesOn) {
  RingInMemory memory(100);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kFile, Durability::kPower);
  begin_x_only(writer, run_of(100));
  for (std::uint64_t k = 1; k <= 3; ++k) commit_iterate(writer, k, 100);
  writer.clear();
  EXPECT_TRUE(recover(memory.ring()).kept.empty());
  EXPECT_EQ(writer.persisted(), 3u) << "what ran before was finished";
  EXPECT_EQ(writer.previous_payload(), nullptr) << "no iterate that was forgotten is read again";
  begin_x_only(writer, run_of(100));
  EXPECT_EQ(writer.run_committed(), 0u);
  commit_iterate(writer, 4, 100);
  EXPECT_EQ(recover(memory.ring()).newest_seq(), 4u) << "the numbers continue";
  EXPECT_EQ(writer.finish(), 0);
}

}  // namespace
}  // namespace ringside
