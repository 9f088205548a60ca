// SPDX-License-Identifier: BSD-3-Clause
// A ring of format 2 in ordinary memory, as release 0.2 wrote one. This release reads format 2 but does not write it,
// so the tests of the readers need their own encoder (docs/formats/ring_format.md, section 8).
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "common/ring/ring_layout_2.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {

/// The fixed part of the superblock, without its hash.
inline Superblock2 superblock_2_of(const RingGeometry& geometry) {
  Superblock2 fixed;
  fixed.head = {kRingMagic, kRingVersion2, static_cast<std::uint32_t>(geometry.superblock_bytes()), 0};
  fixed.file_bytes = geometry.file_bytes;
  for (int copy : {0, 1}) {
    fixed.superblock_offset[copy] = geometry.superblock_offset[copy];
    fixed.run_table_offset[copy] = geometry.run_table_offset[copy];
  }
  fixed.slots = geometry.slot_count();
  fixed.run_records = geometry.run_entries();
  fixed.rows = geometry.entries();
  fixed.payload_bytes = geometry.payload_bytes();
  fixed.chunk_bytes = geometry.chunk_bytes;
  fixed.meta_bytes = geometry.meta_bytes();
  fixed.created_realtime_ns = geometry.created_realtime_ns;
  fixed.pool_id = geometry.pool_id;
  fixed.pmdk_hash = geometry.pmdk_hash;
  return fixed;
}

class Ring2InMemory {
 public:
  /// An empty ring.
  explicit Ring2InMemory(std::uint64_t rows, std::uint32_t slots = 3)
      : geometry_(shape_2(rows), kChunkBytes, kRingVersion2) {
    place_ring(geometry_, slots);
    bytes_.resize(geometry_.file_bytes);
    for (int copy : {0, 1}) write_superblock(copy);
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<std::byte> bytes() { return bytes_; }
  const RingGeometry& geometry() const { return geometry_; }
  void flip_bit(std::uint64_t offset, int bit = 0) { bytes_[offset] ^= std::byte{1} << bit; }

  /// Writes the description of run `run`, in both copies of entry `index`.
  void write_run(std::uint32_t index, std::uint64_t record_seq, std::uint64_t run = 7) {
    RunTableEntry2 entry;
    entry.run.run_id = {run, run + 1};
    entry.run.problem_id = {3, 4};
    entry.run.rows = geometry_.entries();
    entry.run.nonzeros = 50;
    assign(entry.run.solver, "pagerank");
    assign(entry.run.matrix, "grid:10");
    assign(entry.run.parameters, "damping=0.85");
    entry.record_seq = record_seq;
    entry.hash = run_hash_2(entry, run_seed(geometry_, index));
    for (const std::uint64_t table : geometry_.run_table_offset) put(table + index * sizeof(entry), entry);
  }

  /// Commits `iterate(k)` of run `run` to a slot.
  void commit(std::uint32_t slot, std::uint64_t k, std::uint64_t commit_seq, std::uint64_t run = 7) {
    const SlotPlace& place = geometry_.slots[slot];
    const std::vector<double> x = iterate(k, geometry_.entries());
    std::memcpy(&bytes_[place.payload_offset], x.data(), geometry_.payload_bytes());
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t chunk = 0; chunk < geometry_.chunk_count(); ++chunk) {
      const PayloadParts::Part part = geometry_.chunks[chunk];
      hashes.push_back(hash64(&bytes_[place.payload_offset + part.offset], part.bytes));
      put(place.meta_offset + geometry_.chunk_hashes_offset() + 8 * chunk, hashes.back());
    }
    const StepWithScalars step = step_of(k);
    put(place.meta_offset + kStepOffset, step.descriptor);
    SlotHeader header;
    header.iteration = k;
    header.step = k - 1;
    header.run_id = {run, run + 1};
    header.payload_bytes = geometry_.entries();  // rows
    header.payload_hash = payload_hash(hashes, step, sizeof(step.descriptor));
    header.commit_seq = commit_seq;
    header.header_hash = header_hash(header, slot_seed_2(geometry_, slot));
    put(place.meta_offset, header);
  }

  /// Stores the reductions of the commit in a slot.
  void store(std::uint32_t slot, const Reductions& reductions) {
    const std::uint64_t meta = geometry_.slots[slot].meta_offset;
    StoredReductions2 stored;
    stored.reductions = reductions;
    std::memcpy(&stored.header_hash, &bytes_[meta + offsetof(SlotHeader, header_hash)], sizeof(stored.header_hash));
    stored.hash = reductions_hash(stored);
    put(meta + geometry_.results_offset(), stored);
  }

 private:
  template <class T>
  void put(std::uint64_t offset, const T& what) {
    std::memcpy(&bytes_[offset], &what, sizeof(what));
  }

  void write_superblock(int copy) {
    const Superblock2 fixed = superblock_2_of(geometry_);
    const std::uint64_t offset = geometry_.superblock_offset[copy];
    put(offset, fixed);
    for (std::uint32_t slot = 0; slot < fixed.slots; ++slot) {
      put(offset + sizeof(fixed) + slot * sizeof(SlotPlace), geometry_.slots[slot]);
    }
    put(offset + offsetof(SuperblockHead, hash), superblock_hash(&bytes_[offset], fixed.head.bytes));
    put(offset + geometry_.formatted_word_offset(), kFormattedWord);
  }

  RingGeometry geometry_;
  std::vector<std::byte> bytes_;
};

}  // namespace ringside
