// SPDX-License-Identifier: BSD-3-Clause
// The calls of persistence that a step makes (docs/publish/variables.md, section 10): every store is flushed and
// drained, and a step that has only x makes the same calls as with format 2.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "analyzer/ring/ring_writer.hpp"
#include "common/reductions/step_reducer.hpp"
#include "tests/unit/analyzer/ring/several_variables.hpp"

namespace ringside {
namespace {

struct Calls {
  std::size_t stores = 0, copies = 0, flushes = 0, drains = 0;
  bool operator==(const Calls&) const = default;
};
std::ostream& operator<<(std::ostream& to, const Calls& calls) {
  return to << calls.stores << " stores, " << calls.copies << " copies, " << calls.flushes << " flushes, "
            << calls.drains << " drains";
}

Calls count(const std::vector<PersistenceEvent>& events) {
  const auto of = [&](Event event) {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(), [event](const auto& one) { return one.event == event; }));
  };
  return {of(Event::kStore), of(Event::kCopy), of(Event::kFlush), of(Event::kDrain)};
}

TEST(RingWriterTest, EveryStoreOfACopyIsFlushedAndThenDrained) {
  omp_set_num_threads(1);
  VariablesRing ring(several_variables());
  ring.memory.persistence.observe(ring.memory.at(0));
  ring.writer.begin();
  ring.memory.persistence.take();
  const std::vector<std::byte> payload = payload_of(ring.schema, 1);
  ring.writer.copy(payload.data(), scalars_of(1), &ring.reducer);
  const std::vector<PersistenceEvent> events = ring.memory.persistence.take();
  EXPECT_EQ(count(events), (Calls{16 + 9, 9, 1 + 1, 1}));
  ASSERT_EQ(events.back().event, Event::kDrain);
  for (auto store = events.begin(); store != events.end(); ++store) {
    if (store->event != Event::kStore) continue;
    EXPECT_TRUE(std::any_of(store, events.end(),
                            [&](const PersistenceEvent& later) {
                              return later.event == Event::kFlush && later.offset <= store->offset &&
                                     store->offset + 8 <= later.offset + later.bytes;
                            }))
        << "at " << store->offset;
  }
}

TEST(RingWriterTest, AnXOnlyStepMakesTheCallsOfFormat2) {
  constexpr std::uint64_t kRows = 2 * kChunkBytes / sizeof(double) + 100;
  constexpr std::size_t kChunks = 3;
  constexpr std::size_t kThreads = 1;
  omp_set_num_threads(kThreads);
  for (const bool on_the_way : {false, true}) {
    XOnlyRing ring(kRows);
    RingWriter& writer = ring.writer;
    ObservedPersistence& persistence = ring.memory.persistence;
    StepReducer reducer(Schema::x_only(kRows));
    persistence.observe(ring.memory.at(0));
    for (std::uint64_t k = 1; k <= 5; ++k) {
      const std::vector<double> x = iterate(k, kRows);
      writer.begin();
      EXPECT_EQ(count(persistence.take()), (Calls{1, 0, 1, 1}));
      writer.copy(x.data(), step_of(k), on_the_way ? &reducer : nullptr);
      EXPECT_EQ(count(persistence.take()), (Calls{8 + kChunks, kChunks, 1 + kThreads, kThreads}));
      writer.commit();
      EXPECT_EQ(count(persistence.take()), (Calls{8, 0, 1, 1}));
      writer.store_results(on_the_way ? reducer.finish(writer.payload(), 1)
                                      : reducer.reduce(writer.payload(), writer.previous_payload(), 1));
      const std::vector<PersistenceEvent> events = persistence.take();
      EXPECT_EQ(count(events), (Calls{1 + 2 + 300 + 2, 0, 2, 2}));
      std::vector<std::uint64_t> flushed_lines;
      for (const PersistenceEvent& event : events) {
        if (event.event != Event::kFlush) continue;
        EXPECT_EQ(event.offset % kLineBytes, 0u);
        flushed_lines.push_back(round_up(event.bytes, kLineBytes) / kLineBytes);
      }
      EXPECT_EQ(flushed_lines, (std::vector<std::uint64_t>{38, 1}));
    }
  }
}

}  // namespace
}  // namespace ringside
