// SPDX-License-Identifier: BSD-3-Clause
// The parts of ring format 2 that differ from format 3 (docs/formats/ring_format.md). Release 0.2 wrote format 2, and
// this release still reads it. The format never changes: tests/unit/analyzer/ring/ring_layout_2_test.cpp has golden
// bytes, and tests/data/format_2.tar.xz has pools. A ring of format 2 has one variable `x f64[rows]`, two scalars per
// step (the residuals), and the reductions of x.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/reductions/reduction.hpp"
#include "common/ring/ring_geometry.hpp"

namespace ringside {

inline constexpr std::uint32_t kRingVersion2 = 2;

/// `slots` SlotPlaces follow this struct.
struct Superblock2 {
  SuperblockHead head;
  std::uint64_t file_bytes = 0;
  std::uint64_t superblock_offset[2] = {};
  std::uint64_t run_table_offset[2] = {};
  std::uint32_t slots = 0;
  std::uint32_t run_records = 0;
  std::uint64_t rows = 0;
  std::uint64_t payload_bytes = 0;  // 8 * rows
  std::uint64_t chunk_bytes = 0;
  std::uint64_t meta_bytes = 0;
  std::int64_t created_realtime_ns = 0;
  Id128 pool_id;
  std::uint64_t pmdk_hash = 0;
};
static_assert(sizeof(Superblock2) == 136 && std::is_trivially_copyable_v<Superblock2>);
static_assert(offsetof(Superblock2, rows) == 72 && offsetof(Superblock2, pool_id) == 112 &&
              offsetof(Superblock2, pmdk_hash) == 128);

/// The reductions of a slot's iterate: 38 lines between the step descriptor and the chunk hashes.
struct StoredReductions2 {
  Reductions reductions;
  std::uint64_t header_hash = 0;
  std::uint64_t hash = 0;  // the hash of all members before this one
};
static_assert(sizeof(Reductions) == 2416 && offsetof(Reductions, top) == 112 && offsetof(Reductions, histogram) == 368);
static_assert(sizeof(StoredReductions2) == 38 * kLineBytes && offsetof(StoredReductions2, hash) == 2424);

struct RunDescription2 {
  Id128 run_id;
  Id128 problem_id;
  std::uint64_t rows = 0;
  std::uint64_t nonzeros = 0;
  std::int64_t started_realtime_ns = 0;
  char solver[24] = {};
  char matrix[416] = {};
  char parameters[512] = {};
};
static_assert(sizeof(RunDescription2) == 1008 && std::is_trivially_copyable_v<RunDescription2>);

struct RunTableEntry2 {
  RunDescription2 run;
  std::uint64_t hash = 0;  // the hash of the whole entry with this word as 0, seeded by the entry's index
  std::uint64_t record_seq = 0;
};
static_assert(sizeof(RunTableEntry2) == 1024 && offsetof(RunTableEntry2, hash) == 1008);

constexpr std::uint64_t superblock_bytes_2(std::uint64_t slots) noexcept {
  return sizeof(Superblock2) + slots * sizeof(SlotPlace);
}

/// The shape of a ring of format 2 with `rows` rows, in terms of format 3.
RingShape shape_2(std::uint64_t rows);

/// The results that a ring of format 2 has for each step.
const Catalogue& catalogue_2();

std::uint64_t slot_seed_2(const RingGeometry& geometry, std::uint32_t slot) noexcept;
std::uint64_t reductions_hash(const StoredReductions2& stored) noexcept;
std::uint64_t run_hash_2(const RunTableEntry2& entry, std::uint64_t seed) noexcept;

/// Converts the description of a run to its present form. If the matrix name is too long, its beginning is removed.
/// schema_id: the id of the ring's schema. run: may be damaged.
RunDescription run_of(const RunDescription2& run, const Id128& schema_id);

}  // namespace ringside
