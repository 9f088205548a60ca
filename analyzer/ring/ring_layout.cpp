// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/ring_layout.hpp"

#include <cstring>

namespace ringside {

std::uint64_t superblock_hash(const std::byte* superblock, std::uint64_t bytes) noexcept {
  constexpr std::size_t kBefore = offsetof(Superblock, hash);
  constexpr std::size_t kAfter = kBefore + sizeof(std::uint64_t);
  return hash64(superblock + kAfter, bytes - kAfter, hash64(superblock, kBefore));
}

std::vector<std::uint64_t> encode_superblock(const RingGeometry& geometry) {
  Superblock fixed;
  fixed.magic = kRingMagic;
  fixed.version = kRingVersion;
  fixed.bytes = static_cast<std::uint32_t>(superblock_bytes(geometry.slot_count()));
  fixed.file_bytes = geometry.file_bytes;
  for (int copy : {0, 1}) {
    fixed.superblock_offset[copy] = geometry.superblock_offset[copy];
    fixed.run_table_offset[copy] = geometry.run_table_offset[copy];
  }
  fixed.slots = geometry.slot_count();
  fixed.run_records = geometry.run_entries();
  fixed.rows = geometry.rows;
  fixed.payload_bytes = geometry.payload_bytes();
  fixed.chunk_bytes = geometry.chunk_bytes;
  fixed.meta_bytes = geometry.meta_bytes();
  fixed.created_realtime_ns = geometry.created_realtime_ns;
  fixed.pool_id = geometry.pool_id;
  fixed.pmdk_hash = geometry.pmdk_hash;

  std::vector<std::uint64_t> words(fixed.bytes / sizeof(std::uint64_t));
  std::memcpy(words.data(), &fixed, sizeof(fixed));
  std::memcpy(words.data() + sizeof(fixed) / sizeof(std::uint64_t), geometry.slots.data(),
              geometry.slots.size() * sizeof(SlotPlace));
  words[offsetof(Superblock, hash) / sizeof(std::uint64_t)] =
      superblock_hash(reinterpret_cast<const std::byte*>(words.data()), fixed.bytes);
  return words;
}

std::uint64_t slot_seed(const RingGeometry& geometry, std::uint32_t slot) noexcept {
  const std::uint64_t identity[] = {kRingVersion,         slot,
                                    geometry.rows,        geometry.slots[slot].payload_offset,
                                    geometry.chunk_bytes, geometry.pool_id.high,
                                    geometry.pool_id.low};
  return hash64(identity, sizeof(identity));
}

std::uint64_t run_seed(const RingGeometry& geometry, std::uint32_t index) noexcept {
  const std::uint64_t identity[] = {kRingVersion, index, geometry.pool_id.high, geometry.pool_id.low};
  return hash64(identity, sizeof(identity));
}

std::uint64_t payload_hash(const std::uint64_t* chunk_hashes, std::uint64_t chunks,
                           const StepDescriptor& step) noexcept {
  return hash64(chunk_hashes, chunks * sizeof(std::uint64_t), hash64(&step, sizeof(step)));
}

std::uint64_t header_hash(const SlotHeader& header, std::uint64_t seed) noexcept {
  SlotHeader covered = header;
  covered.header_hash = 0;
  return hash64(&covered, sizeof(covered), seed);
}

std::uint64_t reductions_hash(const StoredReductions& stored) noexcept {
  return hash64(&stored, offsetof(StoredReductions, hash));
}

std::uint64_t run_hash(const RunTableEntry& entry, std::uint64_t seed) noexcept {
  RunTableEntry covered = entry;
  covered.hash = 0;
  return hash64(&covered, sizeof(covered), seed);
}

}  // namespace ringside
