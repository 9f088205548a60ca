// SPDX-License-Identifier: BSD-3-Clause
// Golden bytes of the ring's structures. A separate script computed them from docs/formats/ring_format.md and the
// packaged libxxhash. If one of them changes, existing pools can no longer be read, and kRingVersion has to change too.
#include "common/ring/ring_layout.hpp"

#include <gtest/gtest.h>

#include "tests/unit/analyzer/golden_bytes.hpp"

namespace ringside {
namespace {

/// A ring with two variables, three scalars, and chunks of 4 KiB.
RingGeometry golden_geometry() {
  const Schema schema =
      Schema::of({{.name = "x", .dtype = DType::kF64, .shape = {1000}},
                  {.name = "p", .dtype = DType::kC64, .shape = {3, 5}, .role = Role::kState, .unit = "m s-1"}});
  RingGeometry geometry(
      {.schema = schema, .scalar_words = scalar_words_for(3), .results_bytes = 512, .catalogue_entries = 4}, 4096);
  place_golden(geometry);
  return geometry;
}

SlotHeader golden_header() {
  return golden_header_of(8312, slot_seed(golden_geometry(), 1));
}

std::vector<ResultDescription> golden_catalogue() {
  std::vector<ResultDescription> catalogue(2);
  assign(catalogue[0].name, "l2");
  catalogue[0].source = ResultSource::kReduction;
  catalogue[0].classes = 7;
  assign(catalogue[1].name, "count");
  assign(catalogue[1].unit, "1");
  catalogue[1].type = ValueType::kI64;
  catalogue[1].source = ResultSource::kScalar;
  return catalogue;
}

TEST(RingLayoutTest, SuperblockHasItsGoldenBytes) {
  const std::vector<std::uint64_t> words = encode_superblock(golden_geometry());
  ASSERT_EQ(words.size() * 8, 624u);
  EXPECT_EQ(hex(words.data(), 240),
            "525352494e473031030000007002000083aa7925a8bb54390000800000000000"
            "0010000000000000002000000000000000300000000000000050000000000000"
            "0300000005000000782000000000000000100000000000000003000000000000"
            "00002a36fe9c9717887766554433221100ffeeddccbbaa990807060504030201"
            "24437f2b77fb3489b56bc5985f5d6e55020000000a0000000002000000000000"
            "0400000000000000000000000000000000000000000000000000000000000000"
            "00fd1f0000000000000020000000000000fd3f00000000000000400000000000"
            "00fd5f00000000000000600000000000");
  EXPECT_EQ(hash64(words.data(), words.size() * 8), 0x87923a21fe970826u);  // with both VariableEntries
}

TEST(RingLayoutTest, SlotHeaderHasItsGoldenBytes) {
  EXPECT_EQ(slot_seed(golden_geometry(), 1), 0x751ca12275d03d59u);
  const SlotHeader header = golden_header();
  EXPECT_EQ(hex(&header, sizeof(header)),
            "2a000000000000002900000000000000a100000000000000b200000000000000"
            "7820000000000000efcdab8967452301a2ea2a12ea489e441100000000000000");
}

TEST(RingLayoutTest, RunTableEntryHasItsGoldenBytes) {
  RunEntryHead head;
  head.run.run_id = {0xa1, 0xb2};
  head.run.problem_id = {0xc3, 0xd4};
  head.run.entries = 1000;
  head.run.nonzeros = 5000;
  head.run.started_realtime_ns = 1'700'000'000'000'000'001;
  assign(head.run.solver, "pagerank");
  assign(head.run.matrix, "grid:10");
  assign(head.run.parameters, "damping=0.85");
  head.run.schema_id = golden_geometry().schema().id();
  head.results = 2;
  const std::vector<ResultDescription> catalogue = golden_catalogue();
  EXPECT_EQ(run_seed(golden_geometry(), 2), 0x5872aa1254c34618u);
  EXPECT_EQ(hash64(&head, sizeof(head)), 0x7fd6b3656126c7f3u);
  EXPECT_EQ(hash64(catalogue.data(), catalogue.size() * sizeof(ResultDescription)), 0xf4182ba187e5211au);
  EXPECT_EQ(run_hash(head, catalogue, 9, run_seed(golden_geometry(), 2)), 0xdea6e59634e8db31u);
  EXPECT_EQ(golden_geometry().run_entry_bytes(), 1024u + 4 * 128 + 64);
  EXPECT_EQ(golden_geometry().run_tail_offset(), golden_geometry().run_entry_bytes() - 16);
}

TEST(RingLayoutTest, ResultsHaveTheirGoldenHashes) {
  const std::uint64_t words[] = {1, 0x3ff8000000000000, 7};
  ResultsHead head;
  head.words = 3;
  head.catalogue_hash = catalogue_hash(golden_catalogue(), golden_geometry().schema().id());
  head.header_hash = golden_header().header_hash;
  EXPECT_EQ(head.catalogue_hash, 0x85bee5b6ef2546b2u);
  EXPECT_EQ(results_hash(head, words), 0xc0d093454ea64eeeu);
}

TEST(RingLayoutTest, StepDescriptorHasItsGoldenBytesAndSeedsThePayloadHash) {
  const StepDescriptor step = {.step = 41,
                               .iteration = 42,
                               .residual_l1 = 0.5,
                               .residual_linf = 0.125,
                               .generate_ns = 1000,
                               .producer_idle_ns = 200,
                               .published_at_ns = 3'000'000,
                               .skipped_before = 2};
  EXPECT_EQ(hex(&step, sizeof(step)),
            "29000000000000002a00000000000000000000000000e03f000000000000c03f"
            "e803000000000000c800000000000000c0c62d00000000000200000000000000");
  const std::uint64_t chunk_hashes[] = {0x11, 0x22};
  StepWithScalars with_scalars{.descriptor = step};
  EXPECT_EQ(payload_hash(chunk_hashes, with_scalars, 64), 0x899ee834d9c332eeu) << "as in format 2";
  with_scalars.further[0] = 0x55;
  EXPECT_EQ(golden_geometry().step_bytes(), 128u);
  EXPECT_EQ(payload_hash(chunk_hashes, with_scalars, 128), 0xe600c3cff3695e77u);
}

TEST(RingLayoutTest, AHeaderDoesNotVerifyInAnotherSlotOrPoolOrShape) {
  const SlotHeader header = golden_header();
  RingGeometry other_pool = golden_geometry();
  other_pool.pool_id.low += 1;
  RingGeometry other_chunks = golden_geometry();
  other_chunks.chunk_bytes *= 2;
  RingShape renamed = golden_geometry().shape;
  std::vector<Variable> variables(renamed.schema.variables().begin(), renamed.schema.variables().end());
  variables[1].name = "q";
  renamed.schema = Schema::of(variables);
  RingGeometry other_schema(renamed, 4096);
  other_schema.slots = golden_geometry().slots;
  other_schema.pool_id = golden_geometry().pool_id;
  EXPECT_NE(header_hash(header, slot_seed(golden_geometry(), 0)), header.header_hash);
  EXPECT_NE(header_hash(header, slot_seed(other_pool, 1)), header.header_hash);
  EXPECT_NE(header_hash(header, slot_seed(other_chunks, 1)), header.header_hash);
  EXPECT_NE(header_hash(header, slot_seed(other_schema, 1)), header.header_hash);
}

TEST(RingLayoutTest, NoChunkHoldsBytesOfTwoVariables) {
  const RingGeometry geometry = golden_geometry();
  ASSERT_EQ(geometry.chunk_count(), 3u);
  const auto expect = [&](std::uint64_t chunk, std::uint32_t variable, std::uint64_t in_variable, std::uint64_t offset,
                          std::uint64_t bytes) {
    const PayloadParts::Part part = geometry.chunks[chunk];
    EXPECT_EQ(part.variable, variable) << chunk;
    EXPECT_EQ(part.in_variable, in_variable) << chunk;
    EXPECT_EQ(part.offset, offset) << chunk;
    EXPECT_EQ(part.bytes, bytes) << chunk;
  };
  expect(0, 0, 0, 0, 4096);
  expect(1, 0, 4096, 4096, 3904);
  expect(2, 1, 0, 8192, 120);
}

TEST(RingLayoutTest, DescriptorAndScalarsAreWholeLines) {
  EXPECT_EQ(scalar_words_for(0), 2u);
  EXPECT_EQ(scalar_words_for(2), 2u);
  EXPECT_EQ(scalar_words_for(3), 10u);
  EXPECT_EQ(scalar_words_for(10), 10u);
  EXPECT_EQ(scalar_words_for(64), 66u);
}

TEST(RingLayoutTest, AnXOnlySlotHasItsPartsInTheirPlaces) {
  const RingGeometry geometry(RingShape::x_only(1000));
  EXPECT_EQ(geometry.step_bytes(), 64u);
  EXPECT_EQ(geometry.results_offset(), 128u);
  EXPECT_EQ(geometry.shape.results_bytes, 2432u + 512u);
  EXPECT_EQ(geometry.chunk_hashes_offset(), 3072u);
  EXPECT_EQ(geometry.run_entry_bytes(), 17'472u);
}

}  // namespace
}  // namespace ringside
