// SPDX-License-Identifier: BSD-3-Clause
// The commit protocol, over a ring in plain memory. Here "after a crash" means another writer or view on the bytes as
// they are; tests/crash tests which bytes a crash may leave.
#include "analyzer/ring/ring_writer.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/platform/error.hpp"
#include "common/ring/ring_recovery.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {
namespace {

const double* doubles(const std::byte* payload) {
  return reinterpret_cast<const double*>(payload);
}

TEST(RingWriterTest, WhatWasCommittedIsThere) {
  constexpr std::uint64_t kRows = 20'000;  // two chunks and a part of one
  RingInMemory memory(kRows);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(kRows));
  commit_iterate(writer, 1, kRows);

  const RingView ring = memory.ring();
  const Recovery recovery = recover(ring);
  ASSERT_EQ(recovery.kept.size(), 1u);
  const auto& [slot, header] = recovery.kept[0];
  EXPECT_EQ(header.commit_seq, 1u);
  EXPECT_EQ(header.iteration, 1u);
  EXPECT_EQ(header.step, 0u);
  EXPECT_EQ(header.run_id, (Id128{7, 8}));
  EXPECT_TRUE(check_payload(ring, slot, header).intact());
  EXPECT_EQ(std::memcmp(ring.payload(slot), iterate(1, kRows).data(), kRows * 8), 0);
  EXPECT_EQ(text_of(ring.run(header.run_id)->solver), "pagerank");
  EXPECT_EQ(writer.committed(), 1u);
  EXPECT_EQ(writer.persisted(), 1u);  // on DAX the fences persisted it
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
  RingInMemory memory(20'000, 3);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(20'000));
  for (std::uint64_t k = 1; k <= 7; ++k) commit_iterate(writer, k, 20'000);
  ASSERT_EQ(writer.begin(), CommitStatus::kOk);
  EXPECT_EQ(kept_iterations(memory.ring()), (Iterations{6, 7}));
  writer.copy(iterate(8, 20'000).data(), step_of(8));
  EXPECT_EQ(kept_iterations(memory.ring()), (Iterations{6, 7}));
  ASSERT_EQ(writer.commit(), CommitStatus::kOk);
  EXPECT_EQ(kept_iterations(memory.ring()), (Iterations{6, 7, 8}));
}

TEST(RingWriterTest, TheProtocolHasItsThreeFencesInOrder) {
  constexpr std::uint64_t kRows = 2 * kChunkBytes / sizeof(double) + 100;
  omp_set_num_threads(1);
  RingInMemory memory(kRows);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(kRows));
  const SlotPlace place = memory.geometry().slots[0];
  const std::uint64_t table = place.meta_offset + memory.geometry().chunk_hashes_offset();
  const std::uint64_t seq = place.meta_offset + offsetof(SlotHeader, commit_seq);
  memory.persistence.observe(memory.at(0));

  writer.begin();
  std::vector<PersistenceEvent> events = memory.persistence.take();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_TRUE(events[0].event == Event::kStore && events[0].offset == seq && events[0].value == 0);
  EXPECT_TRUE(events[1].event == Event::kFlush && events[1].offset == seq);
  EXPECT_EQ(events[2].event, Event::kDrain);

  writer.copy(iterate(1, kRows).data(), step_of(1));
  events = memory.persistence.take();
  ASSERT_EQ(events.size(), 17u);  // the step's eight words, its flush; three chunks, each copied and its hash stored
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

  writer.commit();
  events = memory.persistence.take();
  ASSERT_EQ(events.size(), 10u);  // the header's eight words, commit_seq the last
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
  RingInMemory memory(100'000);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(100'000));
  writer.begin();
  memory.persistence.observe(memory.at(0));
  writer.copy(iterate(1, 100'000).data(), step_of(1));
  int copies = 0;
  int drains = 0;
  for (const PersistenceEvent& event : memory.persistence.take()) {
    copies += event.event == Event::kCopy;
    drains += event.event == Event::kDrain;
    if (event.event == Event::kCopy) {
      EXPECT_EQ(event.offset % 256, 0u);
    }
  }
  EXPECT_EQ(static_cast<std::uint64_t>(copies), memory.geometry().chunk_count());
  EXPECT_EQ(drains, 3);
  omp_set_num_threads(1);
}

TEST(RingWriterTest, TheBytesDoNotDependOnTheNumberOfThreads) {
  std::vector<std::vector<std::byte>> images;
  for (int threads : {1, 2, 3, 7}) {
    omp_set_num_threads(threads);
    RingInMemory memory(100'000);
    RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
    begin_x_only(writer, run_of(100'000));
    for (std::uint64_t k = 1; k <= 4; ++k) commit_iterate(writer, k, 100'000);
    images.emplace_back(memory.bytes().begin(), memory.bytes().end());
  }
  omp_set_num_threads(1);
  for (const auto& image : images) EXPECT_TRUE(image == images[0]);
}

TEST(RingWriterTest, AnyChangedBitOfAHeaderTakesItsSlotAway) {
  RingInMemory memory(100);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(100));
  for (std::uint64_t k = 1; k <= 3; ++k) commit_iterate(writer, k, 100);
  const KeptSlot newest = recover(memory.ring()).kept.back();
  const std::uint64_t header = memory.geometry().slots[newest.slot].meta_offset;
  for (std::uint64_t bit = 0; bit < 512; ++bit) {
    memory.flip_bit(header + bit / 8, static_cast<int>(bit % 8));
    EXPECT_EQ(kept_iterations(memory.ring()), (Iterations{1, 2})) << "bit " << bit;
    memory.flip_bit(header + bit / 8, static_cast<int>(bit % 8));
  }
  EXPECT_EQ(kept_iterations(memory.ring()), (Iterations{1, 2, 3}));
}

TEST(RingWriterTest, AWriterThatDiedHalfWayCostsOnlyTheVictim) {
  RingInMemory memory(20'000, 4);
  {
    RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
    begin_x_only(writer, run_of(20'000));
    for (std::uint64_t k = 1; k <= 6; ++k) commit_iterate(writer, k, 20'000);
    writer.begin();
    writer.copy(iterate(7, 20'000).data(), step_of(7));
  }
  EXPECT_EQ(kept_iterations(memory.ring()), (Iterations{4, 5, 6}));
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  EXPECT_EQ(writer.committed(), 6u);
  begin_x_only(writer, run_of(20'000));
  EXPECT_EQ(kept_iterations(memory.ring()), (Iterations{4, 5, 6}));
  commit_iterate(writer, 7, 20'000);
  EXPECT_EQ(kept_iterations(memory.ring()), (Iterations{4, 5, 6, 7}));
  EXPECT_EQ(writer.committed(), 7u);
  EXPECT_EQ(writer.run_committed(), 1u);
}

TEST(RingWriterTest, ADamagedHeaderIsOverwrittenBeforeAnythingElse) {
  RingInMemory memory(100, 4);
  {
    RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
    begin_x_only(writer, run_of(100));
    for (std::uint64_t k = 1; k <= 4; ++k) commit_iterate(writer, k, 100);
  }
  memory.flip_bit(memory.geometry().slots[recover(memory.ring()).kept[2].slot].meta_offset);
  EXPECT_EQ(recover(memory.ring()).contiguous, 1u);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(100));
  commit_iterate(writer, 5, 100);
  EXPECT_EQ(kept_iterations(memory.ring()), (Iterations{1, 2, 4, 5}));
}

TEST(RingWriterTest, ThePreviousIterateIsTheOneBeforeInTheSameRun) {
  RingInMemory memory(100);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(100));
  EXPECT_EQ(writer.previous_payload(), nullptr);
  commit_iterate(writer, 1, 100);
  EXPECT_EQ(writer.previous_payload(), nullptr);
  EXPECT_EQ(doubles(writer.payload())[5], iterate(1, 100)[5]);
  commit_iterate(writer, 2, 100);
  EXPECT_EQ(doubles(writer.previous_payload())[5], iterate(1, 100)[5]);
  EXPECT_EQ(doubles(writer.payload())[5], iterate(2, 100)[5]);

  begin_x_only(writer, run_of(100));  // the same run is resumed
  writer.begin();
  EXPECT_EQ(doubles(writer.previous_payload())[5], iterate(2, 100)[5]);
  begin_x_only(writer, run_of(100, 50));  // another run
  writer.begin();
  EXPECT_EQ(writer.previous_payload(), nullptr);
}

TEST(RingWriterTest, ReductionsBelongToOneCommit) {
  RingInMemory memory(100);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(100));
  Reductions reductions;
  const auto state = [&] {
    const RingView ring = memory.ring();
    const KeptSlot newest = recover(ring).kept.back();
    return ring.reductions(newest.slot, newest.header, reductions);
  };
  for (std::uint64_t k = 1; k <= 5; ++k) {
    commit_iterate(writer, k, 100);
    EXPECT_EQ(state(), ResultsState::kNotRecorded);
    Reductions computed;
    computed.sum = static_cast<double>(k);
    store_reductions(writer, computed);
    EXPECT_EQ(state(), ResultsState::kRecorded);
    EXPECT_EQ(reductions.sum, static_cast<double>(k));
  }
  const KeptSlot newest = recover(memory.ring()).kept.back();
  memory.flip_bit(memory.geometry().slots[newest.slot].meta_offset + memory.geometry().results_offset() +
                  sizeof(ResultsHead) + 9);
  EXPECT_EQ(state(), ResultsState::kDamaged);
}

TEST(RingWriterTest, ReductionsOfAnEarlierCommitWithTheSameNumberAreNotTakenForDamage) {
  RingInMemory memory(100);
  {
    RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
    begin_x_only(writer, run_of(100));
    commit_iterate(writer, 1, 100);
    store_reductions(writer, Reductions{});
  }
  memory.flip_bit(memory.geometry().slots[0].meta_offset);  // commit 1 is lost, its number free
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(100));
  commit_iterate(writer, 2, 100);
  const RingView ring = memory.ring();
  const KeptSlot newest = recover(ring).kept.back();
  ASSERT_EQ(newest.slot, 0u);
  ASSERT_EQ(newest.header.commit_seq, 1u);
  Reductions reductions;
  EXPECT_EQ(ring.reductions(newest.slot, newest.header, reductions), ResultsState::kNotRecorded);
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

TEST(RingWriterTest, OneDamagedCopyOfARunTableEntryCostsNothing) {
  RingInMemory memory(100, 3);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(100, 1));
  for (std::uint64_t table : memory.geometry().run_table_offset) {
    memory.flip_bit(table + 20);
    EXPECT_TRUE(memory.ring().run({1, 2}));
    memory.flip_bit(table + 20);
  }
  for (std::uint64_t table : memory.geometry().run_table_offset) memory.flip_bit(table + 20);
  EXPECT_FALSE(memory.ring().run({1, 2}));
}

TEST(RingWriterTest, ARunWithOtherVariablesIsRefused) {
  RingInMemory memory(100);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  try {
    begin_x_only(writer, run_of(101));
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_NE(std::string(error.what()).find("x f64[100]"), std::string::npos);
  }
}

TEST(RingWriterTest, RecoveryTwiceIsRecoveryOnceAndChangesNoByte) {
  RingInMemory memory(20'000, 4);
  {
    RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
    begin_x_only(writer, run_of(20'000));
    for (std::uint64_t k = 1; k <= 6; ++k) commit_iterate(writer, k, 20'000);
    writer.begin();
  }
  const std::vector<std::byte> before(memory.bytes().begin(), memory.bytes().end());
  for (int time = 0; time < 3; ++time) {
    const RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
    EXPECT_EQ(writer.committed(), 6u);
    EXPECT_EQ(kept_iterations(writer.ring()), (Iterations{4, 5, 6}));
    EXPECT_TRUE(std::equal(before.begin(), before.end(), memory.bytes().begin()));
  }
}

TEST(RingWriterTest, ClearingForgetsTheOldestFirst) {
  // A writer that dies while it clears leaves contiguous iterates.
  RingInMemory memory(100, 4);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(100));
  for (std::uint64_t k = 1; k <= 6; ++k) commit_iterate(writer, k, 100);  // 5, 6, 3, 4 by slot
  memory.persistence.observe(memory.at(0));
  writer.clear();
  std::vector<std::uint64_t> cleared;
  for (const PersistenceEvent& event : memory.persistence.take()) {
    const std::uint64_t header = event.offset / kLineBytes * kLineBytes;
    if (event.event == Event::kStore && (cleared.empty() || cleared.back() != header)) cleared.push_back(header);
  }
  const std::vector<SlotPlace>& slots = memory.geometry().slots;
  EXPECT_EQ(cleared, (std::vector<std::uint64_t>{slots[2].meta_offset, slots[3].meta_offset, slots[0].meta_offset,
                                                 slots[1].meta_offset}));
}

TEST(RingWriterTest, AClearedHeaderIsNotMadeValidByItsNumber) {
  // The next owner numbers its commits from 1 again. If that one word reaches a disk before the others of its header,
  // it must not meet the old ones.
  RingInMemory memory(100);
  RingWriter writer(memory.ring(), memory.persistence, Storage::kDax, Durability::kPower);
  begin_x_only(writer, run_of(100));
  commit_iterate(writer, 1, 100);
  writer.clear();
  memory.ring().header(0)->commit_seq = 1;
  EXPECT_EQ(memory.ring().slot(0).state, SlotState::kDamagedHeader);
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
