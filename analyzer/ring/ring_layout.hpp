// SPDX-License-Identifier: BSD-3-Clause
// The ring's bytes: what lies where in a pool, and what each hash covers. This header, docs/ring_format.md and the
// golden bytes of tests/unit/analyzer/ring/ring_layout_test.cpp change together, and kRingVersion with them. Nothing
// here depends on PMDK: a reader finds the superblock by its magic and everything else by file offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "common/handoff/run_description.hpp"
#include "common/handoff/step_descriptor.hpp"
#include "common/kernels/copy.hpp"
#include "common/kernels/hash.hpp"
#include "common/reductions/reduction.hpp"

namespace ringside {

inline constexpr char kPoolLayoutName[] = "ringside.ring";
inline constexpr std::uint64_t kRingMagic = 0x3130474e49525352;      // "RSRING01" in memory
inline constexpr std::uint64_t kFormattedWord = 0x454e4f44474e4952;  // "RINGDONE" in memory
inline constexpr std::uint32_t kRingVersion = 2;

inline constexpr std::size_t kLineBytes = 64;                // the unit that reaches persistent memory in store order
inline constexpr std::size_t kPageBytes = 4096;              // superblocks and run tables start at a page
inline constexpr std::size_t kPayloadAlignment = 2 << 20;    // a huge page, so that DAX maps a payload with few entries
inline constexpr std::size_t kChunkBytes = kCopyChunkBytes;  // hashed while in the first-level cache
inline constexpr std::uint64_t kScanBytes = 64 << 20;        // superblocks lie within these first bytes of the file
inline constexpr std::uint64_t kLeastPoolBytes = 8 << 20;    // PMEMOBJ_MIN_POOL
inline constexpr std::uint32_t kMinSlots = 3;                // newest, newest persisted (or previous), victim
inline constexpr std::uint32_t kMaxSlots = 1024;
inline constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 34;  // PMDK's largest object is just below
inline constexpr std::uint64_t kMaxSequence = std::uint64_t{1} << 62;      // a greater one can only be damage

/// Where a slot's two parts lie, as file offsets. The payload follows its meta area directly.
struct SlotPlace {
  std::uint64_t meta_offset = 0;     // multiple of 64
  std::uint64_t payload_offset = 0;  // multiple of kPayloadAlignment
};
static_assert(sizeof(SlotPlace) == 16 && std::is_trivially_copyable_v<SlotPlace>);

/// The fixed part of a superblock; `slots` SlotPlaces follow it. Written twice at creation, never changed. The first
/// 24 bytes keep their place and meaning in every version, so that any program can recognise a pool that is too new
/// for it.
struct Superblock {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t bytes = 0;  // of the whole superblock, SlotPlaces included: what `hash` covers
  std::uint64_t hash = 0;   // of all the other bytes
  std::uint64_t file_bytes = 0;
  std::uint64_t superblock_offset[2] = {};
  std::uint64_t run_table_offset[2] = {};
  std::uint32_t slots = 0;
  std::uint32_t run_records = 0;  // in each table
  std::uint64_t rows = 0;
  std::uint64_t payload_bytes = 0;  // 8 * rows
  std::uint64_t chunk_bytes = 0;
  std::uint64_t meta_bytes = 0;
  std::int64_t created_realtime_ns = 0;
  Id128 pool_id;  // random; seeds every other hash, so that bytes of another pool are never taken for this one's
  std::uint64_t pmdk_hash = 0;  // of what libpmemobj keeps in the file (pmdk_metadata.hpp)
};
static_assert(sizeof(Superblock) == 136 && std::is_trivially_copyable_v<Superblock>);
static_assert(offsetof(Superblock, hash) == 16 && offsetof(Superblock, rows) == 72);
static_assert(offsetof(Superblock, pool_id) == 112 && offsetof(Superblock, pmdk_hash) == 128);

/// The first line of a slot: one cache line, so that its stores reach persistent memory in program order. `commit_seq`
/// is stored last and shows that the others are there.
struct alignas(kLineBytes) SlotHeader {
  std::uint64_t iteration = 0;
  std::uint64_t step = 0;
  Id128 run_id;
  std::uint64_t rows = 0;
  std::uint64_t payload_hash = 0;  // of the slot's step descriptor and chunk hashes
  std::uint64_t header_hash = 0;   // of all other words, commit_seq included, seeded by the slot's seed
  std::uint64_t commit_seq = 0;    // greater than any the ring held before; 0: nothing valid here
};
static_assert(sizeof(SlotHeader) == kLineBytes && std::is_trivially_copyable_v<SlotHeader>);
static_assert(offsetof(SlotHeader, run_id) == 16 && offsetof(SlotHeader, rows) == 32);
static_assert(offsetof(SlotHeader, header_hash) == 48 && offsetof(SlotHeader, commit_seq) == 56);

/// The reductions of the slot's iterate, written after its commit. The header_hash of that commit identifies it:
/// sequence numbers can come again (a header was damaged, or the ring emptied), whole headers do not.
struct alignas(kLineBytes) StoredReductions {
  Reductions reductions;
  std::uint64_t header_hash = 0;
  std::uint64_t hash = 0;  // of all before it
};
static_assert(sizeof(Reductions) == 2416 && offsetof(Reductions, top) == 112 && offsetof(Reductions, histogram) == 368);
static_assert(sizeof(StoredReductions) == 38 * kLineBytes && offsetof(StoredReductions, hash) == 2424);

/// One entry of the run table. The table is kept twice; either copy of an entry suffices.
struct alignas(kLineBytes) RunTableEntry {
  RunDescription run;
  std::uint64_t hash = 0;        // of `run` and `record_seq`, seeded by the entry's index
  std::uint64_t record_seq = 0;  // 1, 2, 3 ... over the pool's life, stored last; 0: nothing valid here
};
static_assert(sizeof(RunTableEntry) == 1024 && offsetof(RunTableEntry, hash) == 1008);

// A slot's meta area: header, step descriptor, stored reductions, chunk hashes (8 bytes each, rounded up to a line).
inline constexpr std::size_t kStepOffset = sizeof(SlotHeader);
inline constexpr std::size_t kReductionsOffset = kStepOffset + sizeof(StepDescriptor);
inline constexpr std::size_t kChunkHashesOffset = kReductionsOffset + sizeof(StoredReductions);
static_assert(kStepOffset == 64 && kReductionsOffset == 128 && kChunkHashesOffset == 2560);

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

/// The shape of a ring and the place of all its parts: a superblock's content.
struct RingGeometry {
  std::uint64_t file_bytes = 0;
  std::uint64_t superblock_offset[2] = {};
  std::uint64_t run_table_offset[2] = {};
  std::uint64_t rows = 0;
  std::uint64_t chunk_bytes = kChunkBytes;
  std::int64_t created_realtime_ns = 0;
  Id128 pool_id;
  std::uint64_t pmdk_hash = 0;
  std::vector<SlotPlace> slots;

  std::uint32_t slot_count() const noexcept { return static_cast<std::uint32_t>(slots.size()); }
  std::uint32_t run_entries() const noexcept { return slot_count() + 2; }  // one per slot, the newest, one to write
  std::uint64_t payload_bytes() const noexcept { return rows * sizeof(double); }
  std::uint64_t chunk_count() const noexcept { return (payload_bytes() + chunk_bytes - 1) / chunk_bytes; }
  std::uint64_t chunk_size(std::uint64_t chunk) const noexcept {
    const std::uint64_t rest = payload_bytes() - chunk * chunk_bytes;
    return rest < chunk_bytes ? rest : chunk_bytes;
  }
  std::uint64_t meta_bytes() const noexcept {
    return kChunkHashesOffset + round_up(chunk_count() * sizeof(std::uint64_t), kLineBytes);
  }
  std::uint64_t run_table_bytes() const noexcept { return run_entries() * sizeof(RunTableEntry); }
};

/// Bytes of a superblock with its SlotPlaces, and of the area one copy occupies: whole pages, whose last line holds
/// the formatted word.
constexpr std::uint64_t superblock_bytes(std::uint64_t slots) noexcept {
  return sizeof(Superblock) + slots * sizeof(SlotPlace);
}
constexpr std::uint64_t superblock_area_bytes(std::uint64_t slots) noexcept {
  return round_up(superblock_bytes(slots) + kLineBytes, kPageBytes);
}
constexpr std::uint64_t formatted_word_offset(std::uint64_t slots) noexcept {
  return superblock_area_bytes(slots) - kLineBytes;
}

/// The superblock as it is written: `superblock_bytes(slots)` bytes, hash included.
std::vector<std::uint64_t> encode_superblock(const RingGeometry& geometry);

/// Hash of a superblock of `bytes` bytes, at least 24: hash64 of the bytes after its hash word, seeded by the hash64
/// of the 16 bytes before it.
std::uint64_t superblock_hash(const std::byte* superblock, std::uint64_t bytes) noexcept;

/// Seed of the hashes of slot `slot`: version, index, place, rows, chunk size and pool. A header read under another
/// layout, or copied to another slot, does not verify.
std::uint64_t slot_seed(const RingGeometry& geometry, std::uint32_t slot) noexcept;

/// Seed of the hash of entry `index` of the run table, the same for both copies.
std::uint64_t run_seed(const RingGeometry& geometry, std::uint32_t index) noexcept;

/// Hash of the `chunks` chunk hashes of a payload and of its step descriptor: what a header confirms.
std::uint64_t payload_hash(const std::uint64_t* chunk_hashes, std::uint64_t chunks,
                           const StepDescriptor& step) noexcept;

std::uint64_t header_hash(const SlotHeader& header, std::uint64_t seed) noexcept;
std::uint64_t reductions_hash(const StoredReductions& stored) noexcept;
std::uint64_t run_hash(const RunTableEntry& entry, std::uint64_t seed) noexcept;

}  // namespace ringside
