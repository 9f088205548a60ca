// SPDX-License-Identifier: BSD-3-Clause
// Reductions that are made while an iterate is copied into its slot. The ring's bytes, the order of the stores and the
// reductions must be the same as for an iterate that is first copied and then reduced in its slot.
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "analyzer/pool/ring_pool.hpp"
#include "analyzer/pool/ring_replay.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "common/reductions/reduction_words.hpp"
#include "common/threads/elastic_team.hpp"
#include "tests/unit/allowed_cpus.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/common/reductions/reduction_cases.hpp"
#include "tests/unit/sanitized.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

/// Iterates that differ from each other, with values for which every reduction matters.
Vector made(std::uint64_t k, std::uint64_t rows) {
  return k % 3 == 0 ? random_vector(rows, 1.01, 1.02, static_cast<unsigned>(k))
                    : wide_vector(rows, k % 3 == 1, static_cast<unsigned>(k));
}

/// Commits iterate k, reduced in its slot or during its copy, and records the reductions.
Reductions keep(RingWriter& writer, StepReducer& reducer, bool on_the_way, std::uint64_t k, std::uint64_t rows,
                int passes = 1) {
  const Vector x = made(k, rows);
  EXPECT_EQ(writer.begin(), CommitStatus::kOk);
  writer.copy(x.data(), step_of(k), on_the_way ? &reducer : nullptr);
  EXPECT_EQ(writer.commit(), CommitStatus::kOk);
  const auto words = on_the_way ? reducer.finish(writer.payload(), passes)
                                : reducer.reduce(writer.payload(), writer.previous_payload(), passes);
  writer.store_results(words);
  return to_reductions(words, rows);
}

struct Shape {
  std::uint64_t rows;
  std::uint64_t chunk_bytes;
};

/// Chunks of other sizes than 16 KiB, which all pools of Ringside have, are also valid.
std::vector<Shape> shapes() {
  const std::uint64_t chunk = kChunkBytes / sizeof(double);
  std::vector<Shape> all;
  for (const std::uint64_t rows : {std::uint64_t{1}, chunk - 1, chunk, chunk + 1, 3 * chunk, 9 * chunk + 1029}) {
    for (const std::uint64_t bytes : {std::uint64_t{256}, std::uint64_t{8192}, kChunkBytes, std::uint64_t{65536}}) {
      all.push_back({rows, bytes});
    }
  }
  return all;
}

/// Uses memcmp, because an instrumented loop over these bytes would take half a minute.
bool same_bytes(const RingInMemory& a, const RingInMemory& b) {
  return a.bytes().size() == b.bytes().size() && std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
}

TEST(RingReductionTest, TheRingsBytesAreThoseOfACopyThatIsReducedLater) {
  for (const auto& [rows, chunk_bytes] : shapes()) {
    for (const int threads : {1, 2, 3}) {
      omp_set_num_threads(threads);
      RingInMemory swept(rows, 3, chunk_bytes);
      RingInMemory on_the_way(rows, 3, chunk_bytes);
      RingWriter swept_writer(swept.ring(), swept.persistence, Storage::kDax, Durability::kPower);
      RingWriter writer(on_the_way.ring(), on_the_way.persistence, Storage::kDax, Durability::kPower);
      begin_x_only(swept_writer, run_of(rows));
      begin_x_only(writer, run_of(rows));
      StepReducer swept_reducer(Schema::x_only(rows));
      StepReducer reducer(Schema::x_only(rows));
      for (std::uint64_t k = 1; k <= 5; ++k) {
        const int passes = k == 4 ? 3 : 1;
        EXPECT_TRUE(bit_equal(keep(writer, reducer, true, k, rows, passes),
                              keep(swept_writer, swept_reducer, false, k, rows, passes)));
      }
      EXPECT_TRUE(same_bytes(on_the_way, swept))
          << rows << " rows, chunks of " << chunk_bytes << ", " << threads << " threads";
    }
  }
  omp_set_num_threads(omp_get_num_procs());
}

TEST(RingReductionTest, TheRingsBytesDoNotDependOnWhoTookWhichPiece) {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "needs a core that can be lent";
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  LentCores shared;
  std::atomic<std::uint64_t> counter{0};
  std::atomic<std::int64_t> lent_ns{0};
  CoreLender lender(shared, {cpus.at(1)});
  lender.lend(1);
  ElasticTeam team({cpus.at(0)}, {shared, counter}, lent_ns);
  constexpr std::uint64_t kRows = 300 * kCopyChunkBytes / sizeof(double) + 77;
  for (const bool reduced_on_the_way : {false, true}) {
    XOnlyRing alone(kRows);
    XOnlyRing shared_out(kRows);
    shared_out.writer.share_among(team);
    StepReducer alone_reducer(Schema::x_only(kRows));
    StepReducer reducer(Schema::x_only(kRows), team);
    for (std::uint64_t k = 1; k <= (testing::kSanitized ? 6 : 20); ++k) {
      const int passes = k == 4 ? 3 : 1;
      EXPECT_TRUE(bit_equal(keep(shared_out.writer, reducer, reduced_on_the_way, k, kRows, passes),
                            keep(alone.writer, alone_reducer, false, k, kRows, passes)));
    }
    EXPECT_TRUE(same_bytes(shared_out.memory, alone.memory));
  }
  EXPECT_GT(lent_ns.load(), 0) << "the guest has taken its share";
  sched_setaffinity(0, sizeof before, &before);
}

TEST(RingReductionTest, WhatIsStoredAndWaitedForIsTheSameInTheSameOrder) {
  omp_set_num_threads(1);
  constexpr std::uint64_t kRows = 3 * kChunkBytes / sizeof(double) + 77;
  XOnlyRing ring(kRows);
  StepReducer reducer(Schema::x_only(kRows));
  const auto events_of_copy = [&](std::uint64_t k, StepReducer* with) {
    const Vector x = made(k, kRows);
    ring.writer.begin();
    ring.memory.persistence.observe(ring.memory.at(ring.memory.geometry().slots[(k - 1) % 3].meta_offset));
    ring.memory.persistence.take();  // drops the events up to here
    ring.writer.copy(x.data(), step_of(k), with);
    std::vector<PersistenceEvent> events = ring.memory.persistence.take();
    ring.writer.commit();
    return events;
  };
  const std::vector<PersistenceEvent> swept = events_of_copy(1, nullptr);
  const std::vector<PersistenceEvent> on_the_way = events_of_copy(2, &reducer);
  ASSERT_EQ(on_the_way.size(), swept.size());
  for (std::size_t i = 0; i < swept.size(); ++i) {
    EXPECT_EQ(on_the_way[i].event, swept[i].event) << i;
    EXPECT_EQ(on_the_way[i].offset, swept[i].offset) << i;
    EXPECT_EQ(on_the_way[i].bytes, swept[i].bytes) << i;
  }
  omp_set_num_threads(omp_get_num_procs());
}

TEST(RingReductionTest, ARunThatContinuesComparesWithTheKeptIterate) {
  constexpr std::uint64_t kRows = 10'000;
  XOnlyRing kept(kRows, 4);
  {
    StepReducer reducer(Schema::x_only(kRows));
    EXPECT_EQ(keep(kept.writer, reducer, true, 1, kRows).has_change, 0u);
    keep(kept.writer, reducer, true, 2, kRows);
  }
  RingWriter writer = kept.next_writer();
  begin_x_only(writer, run_of(kRows));
  StepReducer reducer(Schema::x_only(kRows));
  const Reductions found = keep(writer, reducer, true, 3, kRows);
  EXPECT_EQ(found.has_change, 1u);
  EXPECT_TRUE(bit_equal(found, Reducer(kRows).reduce(made(3, kRows).data(), made(2, kRows).data(), 1)));
  const RingView ring = kept.memory.ring();
  RingReplay replay(ring);
  for (const KeptSlot& slot : recover(ring).kept) EXPECT_EQ(replay.replay(slot).verdict, ReplayVerdict::kEqual);
}

TEST(RingReductionTest, OnAPlainFileTheBytesAreWrittenOrMappedAndAreTheSame) {
  constexpr std::uint64_t kRows = 50'000;
  for (const Durability durability : {Durability::kPower, Durability::kProcess}) {
    const testing::TemporaryFolder folder;
    const RingPool pool = RingPool::create(folder.file("x"), RingShape::x_only(kRows), 3);
    ASSERT_EQ(pool.storage(), Storage::kFile);
    RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), durability);
    begin_x_only(writer, run_of(kRows));
    StepReducer reducer(Schema::x_only(kRows));
    for (std::uint64_t k = 1; k <= 5; ++k) {
      const Reductions found = keep(writer, reducer, true, k, kRows);
      const Vector previous = k > 1 ? made(k - 1, kRows) : Vector();
      EXPECT_TRUE(bit_equal(found, Reducer(kRows).reduce(made(k, kRows).data(), k > 1 ? previous.data() : nullptr, 1)));
      EXPECT_EQ(std::memcmp(writer.payload(), made(k, kRows).data(), kRows * sizeof(double)), 0);
    }
    EXPECT_EQ(writer.finish(), 0);
    RingReplay replay(pool.ring());
    for (const KeptSlot& slot : recover(pool.ring()).kept) {
      EXPECT_EQ(replay.replay(slot).verdict, ReplayVerdict::kEqual);
    }
  }
}

}  // namespace
}  // namespace ringside
