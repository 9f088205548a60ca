// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/ring_creation.hpp"

#include <algorithm>
#include <vector>

namespace ringside {
namespace {

// libpmemobj may put objects of up to 2.5 MiB of one size into a shared run of 16 chunks. A larger object gets its own
// chunks, from which the size of a pool is computed.
constexpr std::uint64_t kMinObjectBytes = 3 << 20;

std::uint64_t object_bytes(std::uint64_t used) noexcept {
  return used > kMinObjectBytes ? used : kMinObjectBytes;
}

void write_superblock(std::span<std::byte> file, const RingGeometry& geometry, int copy, Persistence& persistence) {
  const std::vector<std::uint64_t> words = encode_superblock(geometry);
  void* to = file.data() + geometry.superblock_offset[copy];
  persistence.store_words(to, words.data(), words.size() * sizeof(std::uint64_t));
  persist(persistence, to, words.size() * sizeof(std::uint64_t));
}

void write_formatted_word(std::span<std::byte> file, const RingGeometry& geometry, int copy, Persistence& persistence) {
  void* to = file.data() + geometry.superblock_offset[copy] + geometry.formatted_word_offset();
  persistence.store_words(to, &kFormattedWord, sizeof(kFormattedWord));
  persist(persistence, to, sizeof(kFormattedWord));
}

}  // namespace

std::uint64_t slot_bytes(const RingGeometry& shape) noexcept {
  return payload_alignment(shape.payload_bytes()) + shape.meta_bytes() + round_up(shape.payload_bytes(), kLineBytes);
}

std::uint32_t slots_in_object(const RingGeometry& shape) noexcept {
  const std::uint64_t fill = (kMinObjectBytes + slot_bytes(shape) - 1) / slot_bytes(shape);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fill, 1, shape.slot_count()));
}

std::uint64_t slot_object_bytes(const RingGeometry& shape) noexcept {
  return object_bytes(slots_in_object(shape) * slot_bytes(shape));
}

SlotPlace place_slot(std::uint64_t offset, const RingGeometry& shape) noexcept {
  const std::uint64_t payload = round_up(offset + shape.meta_bytes(), payload_alignment(shape.payload_bytes()));
  return {payload - shape.meta_bytes(), payload};
}

std::uint64_t root_object_bytes(const RingGeometry& geometry) noexcept {
  return object_bytes(kPageBytes + 2 * geometry.superblock_area_bytes() +
                      2 * round_up(geometry.run_table_bytes(), kPageBytes));
}

void place_root(std::uint64_t object_offset, RingGeometry& geometry) noexcept {
  std::uint64_t at = round_up(object_offset, kPageBytes);
  for (std::uint64_t& offset : geometry.superblock_offset) {
    offset = at;
    at += geometry.superblock_area_bytes();
  }
  for (std::uint64_t& offset : geometry.run_table_offset) {
    offset = at;
    at += round_up(geometry.run_table_bytes(), kPageBytes);
  }
}

int format_ring(std::span<std::byte> file, const RingGeometry& geometry, Persistence& persistence) {
  // A sequence number of 0 marks an empty slot or an invalid run table entry. A new file's blocks are zero, but reused
  // persistent memory may not be.
  const SlotHeader empty_header;
  for (const SlotPlace& place : geometry.slots) {
    persistence.store_words(file.data() + place.meta_offset, &empty_header, sizeof(empty_header));
    persistence.flush(file.data() + place.meta_offset, sizeof(empty_header));
  }
  const RunEntryTail no_entry;
  for (std::uint64_t table : geometry.run_table_offset) {
    for (std::uint32_t index = 0; index < geometry.run_entries(); ++index) {
      void* to = file.data() + table + index * geometry.run_entry_bytes() + geometry.run_tail_offset();
      persistence.store_words(to, &no_entry, sizeof(no_entry));
      persistence.flush(to, sizeof(no_entry));
    }
  }
  persistence.drain();
  for (int copy : {0, 1}) write_superblock(file, geometry, copy, persistence);
  if (const int error = persistence.sync()) return error;
  for (int copy : {0, 1}) write_formatted_word(file, geometry, copy, persistence);
  return persistence.sync();
}

int mend_superblocks(std::span<std::byte> file, const RingView& view, Persistence& persistence) {
  bool changed = false;
  for (int copy : {0, 1}) {
    if (view.superblock_intact(copy)) continue;
    write_superblock(file, view.geometry(), copy, persistence);
    write_formatted_word(file, view.geometry(), copy, persistence);
    changed = true;
  }
  return changed ? persistence.sync() : 0;
}

void write_run_entry(const WritableRing& ring, int copy, std::uint32_t index, const RunDescription& run,
                     std::span<const ResultDescription> catalogue, std::uint64_t record_seq,
                     Persistence& persistence) noexcept {
  RunEntryHead head;
  head.run = run;
  head.results = static_cast<std::uint32_t>(catalogue.size());
  RunEntryHead* to = ring.run_entry(copy, index);
  RunEntryTail* tail = ring.run_tail(copy, index);
  persistence.store64(&tail->record_seq, 0);
  persist(persistence, &tail->record_seq, sizeof(tail->record_seq));
  persistence.store_words(to, &head, sizeof(head));
  persistence.store_words(ring.run_catalogue(copy, index), catalogue.data(), catalogue.size_bytes());
  persist(persistence, to, sizeof(head) + catalogue.size_bytes());
  persistence.store64(&tail->hash, run_hash(head, catalogue, record_seq, run_seed(ring.geometry(), index)));
  persistence.store64(&tail->record_seq, record_seq);
  persist(persistence, tail, sizeof(*tail));
}

int mend_run_entries(const WritableRing& ring, Persistence& persistence) {
  bool changed = false;
  for (std::uint32_t index = 0; index < ring.geometry().run_entries(); ++index) {
    const EntryReading copies[2] = {ring.run_entry_copy(0, index), ring.run_entry_copy(1, index)};
    const auto valid_seq = [&](int copy) {
      return copies[copy].state == EntryState::kValid ? copies[copy].tail.record_seq : 0;
    };
    const int good = valid_seq(0) >= valid_seq(1) ? 0 : 1;
    if (valid_seq(good) == 0) {
      // A damaged copy whose twin was never written does not describe a run.
      for (int copy : {0, 1}) {
        if (copies[copy].state != EntryState::kDamaged || copies[1 - copy].state != EntryState::kEmpty) continue;
        std::uint64_t* record_seq = &ring.run_tail(copy, index)->record_seq;
        persistence.store64(record_seq, 0);
        persist(persistence, record_seq, sizeof(*record_seq));
        changed = true;
      }
      continue;
    }
    if (valid_seq(0) == valid_seq(1)) continue;
    // A killed writer may have left the good copy only in the processor's caches. The good copy is the only copy while
    // the other copy is written.
    persist(persistence, ring.run_entry(good, index), ring.geometry().run_entry_bytes());
    if (const int error = persistence.sync()) return error;
    const EntryReading& from = copies[good];
    write_run_entry(ring, 1 - good, index, from.run, from.catalogue, from.tail.record_seq, persistence);
    changed = true;
  }
  return changed ? persistence.sync() : 0;
}

}  // namespace ringside
