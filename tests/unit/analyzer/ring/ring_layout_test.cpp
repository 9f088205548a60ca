// SPDX-License-Identifier: BSD-3-Clause
// Golden bytes of the ring's structures. A separate script computed them from docs/ring_format.md and the packaged
// libxxhash. If one of them changes, existing pools can no longer be read, and kRingVersion has to change too.
#include "analyzer/ring/ring_layout.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace ringside {
namespace {

template <class T>
std::string hex(const T* data, std::size_t bytes) {
  std::string text;
  const auto* byte = reinterpret_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) text += fmt::format("{:02x}", byte[i]);
  return text;
}

RingGeometry golden_geometry() {
  RingGeometry geometry;
  geometry.file_bytes = 0x800000;
  geometry.superblock_offset[0] = 0x1000;
  geometry.superblock_offset[1] = 0x2000;
  geometry.run_table_offset[0] = 0x3000;
  geometry.run_table_offset[1] = 0x5000;
  geometry.rows = 1000;
  geometry.chunk_bytes = 65536;
  geometry.created_realtime_ns = 1'700'000'000'000'000'000;
  geometry.pool_id = {0x1122334455667788, 0x99aabbccddeeff00};
  geometry.pmdk_hash = 0x0102030405060708;
  for (std::uint64_t slot = 1; slot <= 3; ++slot) {
    geometry.slots.push_back({slot * 0x200000 - geometry.meta_bytes(), slot * 0x200000});
  }
  return geometry;
}

SlotHeader golden_header() {
  SlotHeader header;
  header.iteration = 42;
  header.step = 41;
  header.run_id = {0xa1, 0xb2};
  header.rows = 1000;
  header.payload_hash = 0x0123456789abcdef;
  header.commit_seq = 17;
  header.header_hash = header_hash(header, slot_seed(golden_geometry(), 1));
  return header;
}

TEST(RingLayoutTest, SuperblockHasItsGoldenBytes) {
  const std::vector<std::uint64_t> words = encode_superblock(golden_geometry());
  EXPECT_EQ(words.size() * 8, 184u);
  EXPECT_EQ(hex(words.data(), words.size() * 8),
            "525352494e47303102000000b80000002001c65775e496cf0000800000000000"
            "0010000000000000002000000000000000300000000000000050000000000000"
            "0300000005000000e803000000000000401f0000000000000000010000000000"
            "400a00000000000000002a36fe9c9717887766554433221100ffeeddccbbaa99"
            "0807060504030201c0f51f00000000000000200000000000c0f53f0000000000"
            "0000400000000000c0f55f00000000000000600000000000");
}

TEST(RingLayoutTest, SlotHeaderHasItsGoldenBytes) {
  EXPECT_EQ(slot_seed(golden_geometry(), 1), 0x22c898cd988ee87eu);
  const SlotHeader header = golden_header();
  EXPECT_EQ(hex(&header, sizeof(header)),
            "2a000000000000002900000000000000a100000000000000b200000000000000"
            "e803000000000000efcdab89674523014597b46a796de39f1100000000000000");
}

TEST(RingLayoutTest, RunTableEntryHasItsGoldenBytes) {
  RunTableEntry entry;
  entry.run.run_id = {0xa1, 0xb2};
  entry.run.problem_id = {0xc3, 0xd4};
  entry.run.rows = 1000;
  entry.run.nonzeros = 5000;
  entry.run.started_realtime_ns = 1'700'000'000'000'000'001;
  assign(entry.run.solver, "pagerank");
  assign(entry.run.matrix, "grid:10");
  assign(entry.run.parameters, "damping=0.85");
  entry.record_seq = 9;
  entry.hash = run_hash(entry, run_seed(golden_geometry(), 2));
  EXPECT_EQ(run_seed(golden_geometry(), 2), 0x513f856914f5f90cu);
  EXPECT_EQ(hex(&entry, 80),
            "a100000000000000b200000000000000c300000000000000d400000000000000"
            "e803000000000000881300000000000001002a36fe9c97177061676572616e6b00000000000000000000000000000000");
  EXPECT_EQ(hex(&entry.hash, 16), "4704e79c8b43ac820900000000000000");
  EXPECT_EQ(hash64(&entry, sizeof(entry)), 0xdb48de81b7325235u);  // of all 1024 bytes
}

TEST(RingLayoutTest, StoredReductionsHaveTheirGoldenBytes) {
  StoredReductions stored;
  Reductions& reductions = stored.reductions;
  reductions.rows = 1000;
  reductions.sum = 1.5;
  reductions.mean = 0.0015;
  reductions.min = -1;
  reductions.max = 2;
  reductions.l1 = 3.5;
  reductions.l2 = 1.25;
  reductions.linf = 2;
  reductions.has_change = 1;
  reductions.change_l1 = 0.5;
  reductions.change_l2 = 0.25;
  reductions.change_linf = 0.125;
  reductions.top_count = 1;
  reductions.top[0] = {77, 2.0};
  reductions.histogram[3] = 1000;
  stored.header_hash = golden_header().header_hash;
  stored.hash = reductions_hash(stored);
  EXPECT_EQ(hex(&stored, 128),
            "e803000000000000000000000000f83ffa7e6abc7493583f000000000000f0bf"
            "00000000000000400000000000000c40000000000000f43f0000000000000040"
            "0100000000000000000000000000e03f000000000000d03f000000000000c03f"
            "000000000000000001000000000000004d000000000000000000000000000040");
  EXPECT_EQ(hex(&stored.header_hash, 16), "4597b46a796de39f7030005bd3a2abd0");
  EXPECT_EQ(hash64(&stored, sizeof(stored)), 0xc50733581c6dae0du);  // of all 2432 bytes
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
  EXPECT_EQ(payload_hash(chunk_hashes, 2, step), 0x899ee834d9c332eeu);
}

TEST(RingLayoutTest, EveryWordOfAHeaderIsCoveredByItsHash) {
  const std::uint64_t seed = slot_seed(golden_geometry(), 1);
  const SlotHeader header = golden_header();
  for (std::size_t word = 0; word < 8; ++word) {
    if (word == offsetof(SlotHeader, header_hash) / 8) continue;
    std::uint64_t words[8];
    std::memcpy(words, &header, sizeof(words));
    words[word] ^= 1;
    SlotHeader changed;
    std::memcpy(&changed, words, sizeof(words));
    EXPECT_NE(header_hash(changed, seed), header.header_hash) << "word " << word;
  }
}

TEST(RingLayoutTest, AHeaderDoesNotVerifyInAnotherSlotOrPoolOrShape) {
  const SlotHeader header = golden_header();
  RingGeometry other_pool = golden_geometry();
  other_pool.pool_id.low += 1;
  RingGeometry other_chunks = golden_geometry();
  other_chunks.chunk_bytes *= 2;
  EXPECT_NE(header_hash(header, slot_seed(golden_geometry(), 0)), header.header_hash);
  EXPECT_NE(header_hash(header, slot_seed(other_pool, 1)), header.header_hash);
  EXPECT_NE(header_hash(header, slot_seed(other_chunks, 1)), header.header_hash);
}

TEST(RingLayoutTest, TheLastChunkIsShort) {
  RingGeometry geometry = golden_geometry();
  geometry.rows = 2 * 65536 / 8 + 3;
  EXPECT_EQ(geometry.chunk_count(), 3u);
  EXPECT_EQ(geometry.chunk_size(1), 65536u);
  EXPECT_EQ(geometry.chunk_size(2), 24u);
}

}  // namespace
}  // namespace ringside
