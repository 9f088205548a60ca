// SPDX-License-Identifier: BSD-3-Clause
// The ring's format 3: the places of its parts in a pool, and the bytes that each hash covers. This header,
// docs/formats/ring_format.md, the golden bytes of tests/unit/analyzer/ring/ring_layout_test.cpp and kRingVersion must
// change together. The format is independent of PMDK: a reader finds the superblock by its magic and all other parts by
// file offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "common/handoff/run_description.hpp"
#include "common/handoff/step_descriptor.hpp"
#include "common/kernels/copy.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/huge_pages.hpp"
#include "common/results/result_description.hpp"
#include "common/schema/schema_layout.hpp"

namespace ringside {

static_assert(kHugePageBytes == 2 << 20, "part of the format: payloads begin at multiples of it");
inline constexpr char kPoolLayoutName[] = "ringside.ring";
inline constexpr std::uint64_t kRingMagic = 0x3130474e49525352;      // "RSRING01" in memory
inline constexpr std::uint64_t kFormattedWord = 0x454e4f44474e4952;  // "RINGDONE" in memory
inline constexpr std::uint32_t kRingVersion = 3;
inline constexpr std::uint32_t kOldestRingVersion =
    2;  // the oldest version that this release reads (ring_layout_2.hpp); it writes only the newest version

inline constexpr std::size_t kLineBytes = 64;                // stores to one line reach persistent memory in order
inline constexpr std::size_t kPageBytes = 4096;              // superblocks and run tables start at a page
inline constexpr std::size_t kChunkBytes = kCopyChunkBytes;  // a chunk is hashed while it is in the first-level cache
inline constexpr std::uint64_t kScanBytes = 64 << 20;        // the superblocks are within these first bytes of the file
inline constexpr std::uint64_t kLeastPoolBytes = 8 << 20;    // equal to PMEMOBJ_MIN_POOL
inline constexpr std::uint32_t kMinSlots = 3;                // steps: newest, newest persisted (or previous), victim
inline constexpr std::uint32_t kMaxSlots = 1024;
inline constexpr std::uint64_t kMaxSequence = std::uint64_t{1} << 62;  // any greater number is a sign of damage

inline constexpr std::uint32_t kCatalogueEntries = 128;  // the room in a run table entry, as this release writes it
inline constexpr std::uint32_t kMaxCatalogueEntries = 1024;
inline constexpr std::uint64_t kSpareResultBytes = 512;  // room for results of later releases
inline constexpr std::uint64_t kMaxResultsBytes = 16 << 20;

/// The file offsets of a slot's two parts. The payload directly follows the meta area.
struct SlotPlace {
  std::uint64_t meta_offset = 0;     // a multiple of 64
  std::uint64_t payload_offset = 0;  // a multiple of payload_alignment
};
static_assert(sizeof(SlotPlace) == 16 && std::is_trivially_copyable_v<SlotPlace>);

/// The beginning of a superblock, the same in every version, so that an older program can recognise a newer pool.
struct SuperblockHead {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t bytes = 0;  // the size of the whole superblock, which `hash` covers
  std::uint64_t hash = 0;   // the hash of all other bytes of the superblock
};
static_assert(sizeof(SuperblockHead) == 24 && offsetof(SuperblockHead, hash) == 16);

/// The fixed part of a superblock; `slots` SlotPlaces and `variables` VariableEntries follow it. The creator of the
/// pool writes two copies, which never change.
struct Superblock {
  SuperblockHead head;
  std::uint64_t file_bytes = 0;
  std::uint64_t superblock_offset[2] = {};
  std::uint64_t run_table_offset[2] = {};
  std::uint32_t slots = 0;
  std::uint32_t run_records = 0;  // the number of entries in each table
  std::uint64_t payload_bytes = 0;
  std::uint64_t chunk_bytes = 0;
  std::uint64_t meta_bytes = 0;
  std::int64_t created_realtime_ns = 0;
  Id128 pool_id;  // random; seeds the hashes of slots and run entries, so that bytes of another pool do not verify
  std::uint64_t pmdk_hash = 0;  // the hash of libpmemobj's own data in the file (pmdk_metadata.hpp)
  Id128 schema_id;              // the hash of the descriptions in the VariableEntries
  std::uint32_t variables = 0;
  std::uint32_t scalar_words = 0;       // the room for scalars in each slot
  std::uint64_t results_bytes = 0;      // the room for results in each slot
  std::uint32_t catalogue_entries = 0;  // the room for descriptions in each run table entry
  std::uint32_t reserved[7] = {};
};
static_assert(sizeof(Superblock) == 192 && std::is_trivially_copyable_v<Superblock>);
static_assert(offsetof(Superblock, payload_bytes) == 72 && offsetof(Superblock, pool_id) == 104);
static_assert(offsetof(Superblock, pmdk_hash) == 120 && offsetof(Superblock, schema_id) == 128);
static_assert(offsetof(Superblock, variables) == 144 && offsetof(Superblock, results_bytes) == 152);
static_assert(offsetof(Superblock, catalogue_entries) == 160);

/// The first line of a slot: one cache line, so that stores to it reach persistent memory in program order. The writer
/// stores `commit_seq` last: its presence confirms the other words.
struct alignas(kLineBytes) SlotHeader {
  std::uint64_t iteration = 0;
  std::uint64_t step = 0;
  Id128 run_id;
  std::uint64_t payload_bytes = 0;  // in format 2: the number of rows
  std::uint64_t payload_hash = 0;   // the hash of the slot's step descriptor, its further scalars and its chunk hashes
  std::uint64_t header_hash = 0;    // the hash of all other words, including commit_seq, seeded by the slot's seed
  std::uint64_t commit_seq = 0;     // greater than any earlier one in the ring; 0: the slot is not valid
};
static_assert(sizeof(SlotHeader) == kLineBytes && std::is_trivially_copyable_v<SlotHeader>);
static_assert(offsetof(SlotHeader, run_id) == 16 && offsetof(SlotHeader, payload_bytes) == 32);
static_assert(offsetof(SlotHeader, header_hash) == 48 && offsetof(SlotHeader, commit_seq) == 56);

/// The beginning of a slot's results; `words` words follow it: presence bits and values (common/results). The results
/// are written after the slot's commit. header_hash identifies this commit: the sequence number alone can recur after a
/// damaged header or an emptied ring, but the whole header cannot.
struct ResultsHead {
  std::uint64_t words = 0;
  std::uint64_t catalogue_hash = 0;  // the hash of the run's catalogue, which describes the words
  std::uint64_t hash = 0;            // the hash of the words, seeded by the hash of the other three members
  std::uint64_t header_hash = 0;     // the header_hash of the slot's header; stored last
};
static_assert(sizeof(ResultsHead) == 32 && offsetof(ResultsHead, header_hash) == 24);

/// The beginning of an entry of the run table. `catalogue_entries` ResultDescriptions follow it; only the first
/// `results` of them are used. The RunEntryTail is in the entry's last 16 bytes. The table is stored twice; one copy of
/// an entry is sufficient.
struct RunEntryHead {
  RunDescription run;
  std::uint32_t results = 0;
  std::uint32_t reserved[3] = {};
};
static_assert(sizeof(RunEntryHead) == 1024 && offsetof(RunEntryHead, results) == 1008);

struct RunEntryTail {
  std::uint64_t hash = 0;        // hash of the head, used descriptions and `record_seq`, seeded by the entry's index
  std::uint64_t record_seq = 0;  // 1, 2, 3 ... over the life of the pool, stored last; 0: the entry is not valid
};
static_assert(sizeof(RunEntryTail) == 16);

// A slot's meta area: header, step descriptor with all scalars, results, chunk hashes (8 bytes each, rounded up to a
// line).
inline constexpr std::size_t kStepOffset = sizeof(SlotHeader);

/// A payload of 2 MiB or more begins at a multiple of 2 MiB, so that DAX maps it with huge pages; a smaller payload
/// begins at a multiple of 4096.
constexpr std::uint64_t payload_alignment(std::uint64_t payload_bytes) noexcept {
  return payload_bytes < kHugePageBytes ? kPageBytes : kHugePageBytes;
}

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

/// The smallest room for `scalars` scalars: 2, 10, 18 ... or 66 words, so that descriptor and scalars fill whole lines.
constexpr std::uint32_t scalar_words_for(std::size_t scalars) noexcept {
  constexpr std::size_t kLineWords = kLineBytes / sizeof(std::uint64_t);
  const std::size_t further = scalars > kDescriptorScalars ? scalars - kDescriptorScalars : 0;
  return static_cast<std::uint32_t>(kDescriptorScalars + round_up(further, kLineWords));
}

/// The hash of a superblock of `bytes` bytes, at least 24: hash64 of the bytes after its hash word, seeded by the
/// hash64 of the 16 bytes before that word.
std::uint64_t superblock_hash(const std::byte* superblock, std::uint64_t bytes) noexcept;

/// SlotHeader::payload_hash: the hash of a payload's chunk hashes and of the first `step_bytes` of its step.
std::uint64_t payload_hash(std::span<const std::uint64_t> chunk_hashes, const StepWithScalars& step,
                           std::size_t step_bytes) noexcept;

std::uint64_t header_hash(const SlotHeader& header, std::uint64_t seed) noexcept;

/// The hash of the `head.words` words at `words`; the value of head.hash is not read.
std::uint64_t results_hash(const ResultsHead& head, const std::uint64_t* words) noexcept;

/// The hash of a run table entry. catalogue: head.results descriptions.
std::uint64_t run_hash(const RunEntryHead& head, std::span<const ResultDescription> catalogue, std::uint64_t record_seq,
                       std::uint64_t seed) noexcept;

}  // namespace ringside
