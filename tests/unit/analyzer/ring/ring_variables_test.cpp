// SPDX-License-Identifier: BSD-3-Clause
// A ring whose steps have several variables and scalars: which steps are kept, found damaged, or refused
// (docs/publish/variables.md, sections 4 and 9).
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "analyzer/ring/ring_writer.hpp"
#include "common/reductions/reduction_words.hpp"
#include "common/results/result_values.hpp"
#include "common/ring/ring_check.hpp"
#include "common/ring/ring_recovery.hpp"
#include "tests/unit/analyzer/ring/several_variables.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

using Chunks = std::vector<std::uint64_t>;

/// Expects that read_payload returns the published values of each variable.
void expect_published(const VariablesRing& ring, std::uint64_t k) {
  const KeptSlot kept = ring.newest();
  ASSERT_EQ(kept.header.iteration, k);
  const std::vector<std::byte> published = payload_of(ring.schema, k);
  std::vector<std::byte> read(published.size());
  const RingView view = ring.memory.ring();
  const ReadResult result = read_payload(view, kept.slot, kept.header, read.data());
  ASSERT_EQ(result.status, ReadStatus::kOk);
  for (std::size_t v = 0; v < ring.schema.size(); ++v) {
    const VariablePlace& place = ring.schema.place(v);
    EXPECT_EQ(std::memcmp(read.data() + place.offset, published.data() + place.offset, place.stored_bytes), 0) << v;
  }
  const StepWithScalars expected = scalars_of(k);
  EXPECT_EQ(std::memcmp(&result.step, &expected, sizeof expected), 0);
}

TEST(RingVariablesTest, AStepKeepsTheBytesOfEachVariableAndAllScalars) {
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    VariablesRing ring(several_variables());
    EXPECT_EQ(ring.memory.geometry().shape.scalar_words, 10u);
    EXPECT_EQ(ring.memory.geometry().chunk_count(), 9u);
    for (std::uint64_t k = 1; k <= 5; ++k) {
      ring.commit(k);
      expect_published(ring, k);
    }
    const RingView view = ring.memory.ring();
    const std::uint32_t slot = ring.newest().slot;
    EXPECT_EQ(view.values<double>(slot, 0)[4], 5001.0);
    EXPECT_EQ(view.values<float>(slot, 1)[4], 5101.0f);
    EXPECT_EQ(view.values<std::int16_t>(slot, 2)[4], 5201);
    EXPECT_EQ(view.values<double>(slot, 3)[1], -5300.0);
    EXPECT_EQ(view.values<double>(slot, 4)[0], 5400.0);
    EXPECT_EQ(std::bit_cast<double>(view.step(slot).scalar(2)), 5.25);
    EXPECT_EQ(view.step(slot).scalar(3), 105u);
    EXPECT_EQ(view.step(slot).scalar(4), ~std::uint64_t{5});
    EXPECT_EQ(view.step(slot).scalar(5), 0u);
  }
  omp_set_num_threads(1);
}

TEST(RingVariablesTest, BytesBetweenVariablesAreNeitherWrittenNorHashed) {
  VariablesRing ring(several_variables());
  ring.commit(1);
  const std::uint64_t payload = ring.memory.geometry().slots[ring.newest().slot].payload_offset;
  for (std::size_t v = 0; v + 1 < ring.schema.size(); ++v) {
    const VariablePlace& place = ring.schema.place(v);
    const std::uint64_t end = place.offset + place.stored_bytes;
    for (std::uint64_t byte = end; byte < ring.schema.place(v + 1).offset; ++byte) {
      ASSERT_EQ(*ring.memory.at(payload + byte), std::byte{0}) << v;
    }
    ring.memory.flip_bit(payload + end);
  }
  EXPECT_TRUE(ring.check().intact());
}

TEST(RingVariablesTest, AFlippedBitIsFoundInTheChunkOfItsVariable) {
  VariablesRing ring(several_variables());
  for (std::uint64_t k = 1; k <= 2; ++k) ring.commit(k);
  const std::uint64_t payload = ring.memory.geometry().slots[ring.newest().slot].payload_offset;
  const auto damaged_by = [&](std::uint64_t byte) {
    ring.memory.flip_bit(payload + byte, static_cast<int>(byte % 8));
    const PayloadCheck check = ring.check();
    EXPECT_TRUE(check.table_intact);
    std::vector<std::byte> read(ring.schema.payload_bytes());
    const KeptSlot kept = ring.newest();
    const ReadResult result = read_payload(ring.memory.ring(), kept.slot, kept.header, read.data());
    EXPECT_EQ(result.status, ReadStatus::kDamaged);
    EXPECT_EQ(check.damaged_chunks, Chunks{result.damaged_chunk});
    ring.memory.flip_bit(payload + byte, static_cast<int>(byte % 8));
    return check.damaged_chunks;
  };
  const Chunks first_chunks = {0, 2, 4, 6, 8};
  for (std::size_t v = 0; v < ring.schema.size(); ++v) {
    const VariablePlace& place = ring.schema.place(v);
    const std::uint64_t last = place.stored_bytes - 1;
    const std::uint64_t chunks = last / kChunkBytes;
    EXPECT_EQ(damaged_by(place.offset), Chunks{first_chunks[v]}) << v;
    EXPECT_EQ(damaged_by(place.offset + std::min<std::uint64_t>(kChunkBytes - 1, last)), Chunks{first_chunks[v]}) << v;
    EXPECT_EQ(damaged_by(place.offset + chunks * kChunkBytes), Chunks{first_chunks[v] + chunks}) << v;
    EXPECT_EQ(damaged_by(place.offset + last), Chunks{first_chunks[v] + chunks}) << v;
  }
  EXPECT_TRUE(ring.check().intact());
}

TEST(RingVariablesTest, EveryByteOfAStepWithItsScalarsIsCovered) {
  VariablesRing ring(several_variables());
  ring.commit(1);
  const RingGeometry& geometry = ring.memory.geometry();
  ASSERT_EQ(geometry.step_bytes(), 128u);
  const KeptSlot kept = ring.newest();
  const std::uint64_t step = geometry.slots[kept.slot].meta_offset + kStepOffset;
  std::vector<std::byte> read(ring.schema.payload_bytes());
  for (std::uint64_t byte = 0; byte < geometry.step_bytes(); ++byte) {
    ring.memory.flip_bit(step + byte, static_cast<int>(byte % 8));
    const PayloadCheck check = ring.check();
    EXPECT_FALSE(check.table_intact) << byte;
    EXPECT_EQ(check.damaged_chunks, Chunks{}) << byte;
    EXPECT_EQ(read_payload(ring.memory.ring(), kept.slot, kept.header, read.data()).status, ReadStatus::kDamaged);
    ring.memory.flip_bit(step + byte, static_cast<int>(byte % 8));
  }
  EXPECT_TRUE(ring.check().intact());
}

TEST(RingVariablesTest, ResultsAreReadByName) {
  VariablesRing ring(several_variables());
  for (std::uint64_t k = 1; k <= 4; ++k) {
    const std::vector<std::uint64_t> words = ring.commit(k);
    const RingView view = ring.memory.ring();
    const KeptSlot kept = ring.newest();
    SlotResults results;
    EXPECT_EQ(view.results(kept.slot, kept.header, results), ResultsState::kNotRecorded);
    ring.writer.store_results(words);
    ASSERT_EQ(view.results(kept.slot, kept.header, results), ResultsState::kRecorded);
    EXPECT_EQ(results.words, words);

    const auto catalogue = view.catalogue(kept.header.run_id, results.catalogue_hash);
    ASSERT_TRUE(catalogue);
    EXPECT_EQ(catalogue->scalars().size(), 5u);
    EXPECT_EQ(catalogue->find("r.sum"), nullptr) << "a state is not reduced";
    const Result* rho = catalogue->find("solver.rho");
    ASSERT_NE(rho, nullptr);
    EXPECT_EQ(std::bit_cast<double>(view.step(kept.slot).scalar(rho->word)), static_cast<double>(k) + 0.25);

    const ResultValues values(results.words);
    const auto* w = view.values<std::int16_t>(kept.slot, 2);
    EXPECT_TRUE(values.i128(*catalogue->find("w.sum")) == std::accumulate(w, w + 8195, std::int64_t{0}));
    const auto* v = view.values<float>(kept.slot, 1);
    EXPECT_EQ(values.f64(*catalogue->find("v.max")), static_cast<double>(*std::max_element(v, v + 5001)));
    const Result& change = *catalogue->find("u.change_linf");
    EXPECT_EQ(values.present(change), k > 1);
    if (k > 1) {
      EXPECT_EQ(values.f64(change), 1000.0);
    }
  }
}

TEST(RingVariablesTest, EveryByteOfResultsIsCovered) {
  VariablesRing ring(several_variables());
  ring.commit(1);
  const std::vector<std::uint64_t> words = ring.commit(2);
  ring.writer.store_results(words);
  const RingView view = ring.memory.ring();
  const KeptSlot kept = ring.newest();
  const std::uint64_t offset =
      ring.memory.geometry().slots[kept.slot].meta_offset + ring.memory.geometry().results_offset();
  SlotResults results;
  for (std::uint64_t byte = 0; byte < sizeof(ResultsHead) + words.size() * 8; ++byte) {
    ring.memory.flip_bit(offset + byte, static_cast<int>(byte % 8));
    ASSERT_EQ(view.results(kept.slot, kept.header, results), ResultsState::kDamaged) << byte;
    ring.memory.flip_bit(offset + byte, static_cast<int>(byte % 8));
  }
  EXPECT_EQ(view.results(kept.slot, kept.header, results), ResultsState::kRecorded);
}

TEST(RingVariablesTest, WithoutItsRunsDescriptionAStepKeepsAllButTheNamesOfItsResults) {
  VariablesRing ring(several_variables());
  const std::vector<std::uint64_t> words = ring.commit(1);
  ring.writer.store_results(words);
  const KeptSlot kept = ring.newest();
  const std::uint64_t hash = catalogue_hash(ring.catalogue.descriptions(), ring.schema.id());
  ASSERT_TRUE(ring.memory.ring().catalogue(kept.header.run_id, hash));
  EXPECT_FALSE(ring.memory.ring().catalogue(kept.header.run_id, hash + 1));
  for (const std::uint64_t table : ring.memory.geometry().run_table_offset) {
    ring.memory.flip_bit(table + sizeof(RunEntryHead) + 200);  // in a description that is used
  }
  const RingView view = ring.memory.ring();
  EXPECT_FALSE(view.run(kept.header.run_id));
  EXPECT_FALSE(view.catalogue(kept.header.run_id, hash));
  SlotResults results;
  EXPECT_EQ(view.results(kept.slot, kept.header, results), ResultsState::kRecorded);
  EXPECT_EQ(results.words, words);
  EXPECT_EQ(results.catalogue_hash, hash);
  expect_published(ring, 1);
}

TEST(RingVariablesTest, ARunWithOtherVariablesOrWithoutRoomIsRefused) {
  VariablesRing ring(several_variables());
  ring.commit(1);
  const auto refusal = [&](const Schema& schema, const Catalogue& catalogue) {
    return failure_line([&] { ring.writer.begin_run(run_with(schema), catalogue); });
  };
  const Schema other = Schema::x_only(4000);
  EXPECT_EQ(refusal(other, catalogue_of(other, five_scalars())),
            "the pool holds steps of u f64[40,100], v f32[5001] m s-1, w i16[8195], r c128[1500] state, alpha f64 "
            "state, but this run has other variables; --overwrite makes a new pool");

  std::vector<Scalar> scalars = five_scalars();
  while (scalars.size() < 11) scalars.push_back({.name = "s" + std::to_string(scalars.size())});
  EXPECT_EQ(refusal(ring.schema, catalogue_of(ring.schema, scalars)),
            "the pool has room for 10 scalars, but this run has 11; --overwrite makes a new pool");
  scalars.pop_back();
  EXPECT_EQ(refusal(ring.schema, catalogue_of(ring.schema, scalars)), "");

  const auto others = [&](std::size_t number, std::uint32_t count) {
    std::vector<ResultDescription> descriptions(number);
    for (std::size_t i = 0; i < number; ++i) {
      assign(descriptions[i].name, "analysis.a" + std::to_string(i));
      descriptions[i].count = count;
    }
    return Catalogue::of(ring.schema, {}, {}, descriptions);
  };
  EXPECT_EQ(refusal(ring.schema, others(1, 971)), "");
  EXPECT_NE(refusal(ring.schema, others(1, 972)), "");
  EXPECT_EQ(refusal(ring.schema, others(128, 1)), "");
  EXPECT_NE(refusal(ring.schema, others(129, 1)), "");
  EXPECT_EQ(kept_iterations(ring.memory.ring()), Iterations{1}) << "no refusal costs a step";
}

TEST(RingVariablesTest, ARunMayHaveStatesOnly) {
  VariablesRing ring(Schema::of({{.name = "r", .shape = {3000}, .role = Role::kState},
                                 {.name = "flags", .dtype = DType::kU8, .shape = {3}, .role = Role::kState}}));
  for (std::uint64_t k = 1; k <= 4; ++k) {
    const std::vector<std::uint64_t> words = ring.commit(k);
    EXPECT_TRUE(words.empty());
    ring.writer.store_results(words);
    expect_published(ring, k);
  }
  const KeptSlot kept = ring.newest();
  SlotResults results;
  EXPECT_EQ(ring.memory.ring().results(kept.slot, kept.header, results), ResultsState::kRecorded);
  EXPECT_TRUE(results.words.empty());
  const auto catalogue = ring.memory.ring().catalogue(kept.header.run_id, results.catalogue_hash);
  ASSERT_TRUE(catalogue);
  EXPECT_EQ(catalogue->results().size(), 5u);
}

TEST(RingVariablesTest, AStepMayHave256VariablesOfOneEntry) {
  std::vector<Variable> variables;
  for (std::uint16_t v = 0; v < kMostVariables; ++v) {
    variables.push_back({.name = "v" + std::to_string(v), .dtype = DType{static_cast<std::uint16_t>(1 + v % 12)}});
  }
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    VariablesRing ring(Schema::of(variables));
    ASSERT_EQ(ring.memory.geometry().chunk_count(), 256u);
    for (std::uint64_t k = 1; k <= 4; ++k) {
      ring.writer.store_results(ring.commit(k));
      expect_published(ring, k);
    }
    const KeptSlot kept = ring.newest();
    EXPECT_FALSE(check_slot(ring.memory.ring(), kept).damaged());
    EXPECT_EQ(check_slot(ring.memory.ring(), kept).results, ResultsState::kRecorded);
    const std::uint64_t payload = ring.memory.geometry().slots[kept.slot].payload_offset;
    for (const std::uint64_t v : {0u, 1u, 128u, 255u}) {
      ring.memory.flip_bit(payload + ring.schema.place(v).offset);
      EXPECT_EQ(ring.check().damaged_chunks, Chunks{v});
      ring.memory.flip_bit(payload + ring.schema.place(v).offset);
    }
  }
  omp_set_num_threads(1);
}

TEST(RingVariablesTest, NoHeaderIsValidUnderAnotherSchemaOfTheSameSize) {
  VariablesRing ring(several_variables());
  for (std::uint64_t k = 1; k <= 3; ++k) ring.commit(k);
  std::vector<Variable> variables(ring.schema.variables().begin(), ring.schema.variables().end());
  variables[0].name = "U";
  const Schema renamed = Schema::of(variables);
  for (const std::uint64_t offset : ring.memory.geometry().superblock_offset) {
    auto* superblock = reinterpret_cast<Superblock*>(ring.memory.at(offset));
    ring.memory.flip_bit(offset + sizeof(Superblock) + 3 * sizeof(SlotPlace), 5);  // the name u becomes U
    superblock->schema_id = renamed.id();
    superblock->head.hash = superblock_hash(ring.memory.at(offset), superblock->head.bytes);
  }
  const RingView view = ring.memory.ring();
  EXPECT_EQ(view.geometry().schema(), renamed);
  for (std::uint32_t slot = 0; slot < 3; ++slot) EXPECT_EQ(view.slot(slot).state, SlotState::kDamagedHeader);
}

TEST(RingVariablesTest, AForgedPlaceOfAVariableIsRefusedByItsNumber) {
  const VariablesRing ring(several_variables());
  const std::uint64_t offset = ring.memory.geometry().superblock_offset[0];
  auto* superblock = reinterpret_cast<Superblock*>(ring.memory.at(offset));
  const std::uint64_t entries = offset + sizeof(Superblock) + 3 * sizeof(SlotPlace);
  auto* v = reinterpret_cast<VariableEntry*>(ring.memory.at(entries + sizeof(VariableEntry)));
  v->offset = 8;
  superblock->head.hash = superblock_hash(ring.memory.at(offset), superblock->head.bytes);
  EXPECT_EQ(failure_line([&] { RingView::parse(ring.memory.bytes(), "POOL"); }, ExitCode::kDamaged),
            "POOL: damaged pool: the superblock at byte " + std::to_string(offset) +
                " has variable 1's offset = 8, which is impossible");
}

TEST(RingVariablesTest, ReductionsOfXAreFoundWhateverScalarsTheRunHas) {
  VariablesRing made(Schema::x_only(100), {});
  commit_iterate(made.writer, 1, 100);
  Reductions written;
  written.rows = 100;
  written.l2 = 7;
  std::vector<std::uint64_t> words(kXOnlyWords);
  to_words(written, words);
  made.writer.store_results(words);
  const RingView ring = made.memory.ring();
  const KeptSlot kept = made.newest();
  Reductions found;
  ASSERT_EQ(ring.reductions(kept.slot, kept.header, found), ResultsState::kRecorded);
  EXPECT_EQ(found.l2, 7);
}

TEST(RingVariablesTest, TheCatalogueOfAKeptStepOutlivesARunThatIsResumedWithOtherScalars) {
  std::vector<Scalar> scalars = {{.name = "a"}, {.name = "b"}};
  VariablesRing made(Schema::x_only(100), scalars);
  commit_iterate(made.writer, 1, 100);
  made.writer.store_results(std::vector<std::uint64_t>(made.catalogue.words()));
  for (const char* unit : {"m", "s", "kg", "A", "K", "mol", "cd"}) {  // more units than the run table has entries
    scalars[1].unit = unit;
    made.writer.begin_run(run_with(made.schema), catalogue_of(made.schema, scalars));
  }
  const RingView ring = made.memory.ring();
  const KeptSlot kept = made.newest();
  SlotResults results;
  ASSERT_EQ(ring.results(kept.slot, kept.header, results), ResultsState::kRecorded);
  EXPECT_TRUE(ring.catalogue(kept.header.run_id, results.catalogue_hash).has_value());
}

}  // namespace
}  // namespace ringside
