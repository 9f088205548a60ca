// SPDX-License-Identifier: BSD-3-Clause
// Golden bytes of ring format 2, as release 0.2 tested them. If one of them changes, pools of that format can no longer
// be read.
#include "common/ring/ring_layout_2.hpp"

#include <gtest/gtest.h>

#include "tests/unit/analyzer/golden_bytes.hpp"
#include "tests/unit/analyzer/ring/ring_2_in_memory.hpp"

namespace ringside {
namespace {

RingGeometry golden_geometry_2() {
  RingGeometry geometry(shape_2(1000), 65536, kRingVersion2);
  place_golden(geometry);
  return geometry;
}

SlotHeader golden_header_2() {
  return golden_header_of(1000, slot_seed(golden_geometry_2(), 1));  // 1000 rows
}

TEST(RingLayout2Test, SuperblockHasItsGoldenBytes) {
  const RingGeometry geometry = golden_geometry_2();
  struct {
    Superblock2 fixed;
    SlotPlace slots[3];
  } superblock;
  Superblock2& fixed = superblock.fixed;
  fixed = superblock_2_of(geometry);
  for (std::size_t slot = 0; slot < 3; ++slot) superblock.slots[slot] = geometry.slots[slot];
  fixed.head.hash = superblock_hash(reinterpret_cast<const std::byte*>(&superblock), sizeof(superblock));
  EXPECT_EQ(geometry.superblock_bytes(), sizeof(superblock));
  EXPECT_EQ(hex(&superblock, sizeof(superblock)),
            "525352494e47303102000000b80000002001c65775e496cf0000800000000000"
            "0010000000000000002000000000000000300000000000000050000000000000"
            "0300000005000000e803000000000000401f0000000000000000010000000000"
            "400a00000000000000002a36fe9c9717887766554433221100ffeeddccbbaa99"
            "0807060504030201c0f51f00000000000000200000000000c0f53f0000000000"
            "0000400000000000c0f55f00000000000000600000000000");
}

TEST(RingLayout2Test, SlotHeaderHasItsGoldenBytes) {
  EXPECT_EQ(slot_seed(golden_geometry_2(), 1), 0x22c898cd988ee87eu);
  const SlotHeader header = golden_header_2();
  EXPECT_EQ(hex(&header, sizeof(header)),
            "2a000000000000002900000000000000a100000000000000b200000000000000"
            "e803000000000000efcdab89674523014597b46a796de39f1100000000000000");
}

TEST(RingLayout2Test, RunTableEntryHasItsGoldenBytes) {
  RunTableEntry2 entry;
  entry.run.run_id = {0xa1, 0xb2};
  entry.run.problem_id = {0xc3, 0xd4};
  entry.run.rows = 1000;
  entry.run.nonzeros = 5000;
  entry.run.started_realtime_ns = 1'700'000'000'000'000'001;
  assign(entry.run.solver, "pagerank");
  assign(entry.run.matrix, "grid:10");
  assign(entry.run.parameters, "damping=0.85");
  entry.record_seq = 9;
  entry.hash = run_hash_2(entry, run_seed(golden_geometry_2(), 2));
  EXPECT_EQ(run_seed(golden_geometry_2(), 2), 0x513f856914f5f90cu);
  EXPECT_EQ(hex(&entry, 80),
            "a100000000000000b200000000000000c300000000000000d400000000000000"
            "e803000000000000881300000000000001002a36fe9c97177061676572616e6b00000000000000000000000000000000");
  EXPECT_EQ(hex(&entry.hash, 16), "4704e79c8b43ac820900000000000000");
  EXPECT_EQ(hash64(&entry, sizeof(entry)), 0xdb48de81b7325235u);  // the hash of all 1024 bytes
}

TEST(RingLayout2Test, StoredReductionsHaveTheirGoldenBytes) {
  StoredReductions2 stored;
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
  stored.header_hash = golden_header_2().header_hash;
  stored.hash = reductions_hash(stored);
  EXPECT_EQ(hex(&stored, 128),
            "e803000000000000000000000000f83ffa7e6abc7493583f000000000000f0bf"
            "00000000000000400000000000000c40000000000000f43f0000000000000040"
            "0100000000000000000000000000e03f000000000000d03f000000000000c03f"
            "000000000000000001000000000000004d000000000000000000000000000040");
  EXPECT_EQ(hex(&stored.header_hash, 16), "4597b46a796de39f7030005bd3a2abd0");
  EXPECT_EQ(hash64(&stored, sizeof(stored)), 0xc50733581c6dae0du);  // the hash of all 2432 bytes
}

TEST(RingLayout2Test, ARingOfFormat2HasItsPartsWhereFormat3WouldHaveThem) {
  const RingGeometry geometry = golden_geometry_2();
  EXPECT_EQ(geometry.results_offset(), 128u);
  EXPECT_EQ(geometry.chunk_hashes_offset(), 2560u);
  EXPECT_EQ(geometry.run_entry_bytes(), 1024u);
  EXPECT_EQ(geometry.header_size(), 1000u) << "rows";
}

TEST(RingLayout2Test, ALongMatrixNameOfFormat2LosesItsBeginning) {
  RunDescription2 run;
  assign(run.matrix, std::string(20, 'a') + std::string(395, 'b'));
  EXPECT_EQ(text_of(run_of(run, {}).matrix), std::string(4, 'a') + std::string(395, 'b'));
}

}  // namespace
}  // namespace ringside
