// SPDX-License-Identifier: BSD-3-Clause
// A ring in ordinary memory, and a persistence that records its calls. With this ring and this persistence, the ring's
// protocol is tested without a pool, a file or persistent memory.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/ring/persistence.hpp"
#include "analyzer/ring/ring_creation.hpp"
#include "analyzer/ring/ring_writer.hpp"
#include "common/ring/pmdk_metadata.hpp"
#include "common/ring/ring_recovery.hpp"
#include "common/ring/ring_view.hpp"
#include "tests/unit/analyzer/ring/x_only_run.hpp"

namespace ringside {

enum class Event { kStore, kCopy, kFlush, kDrain, kSync };

struct PersistenceEvent {
  Event event = Event::kDrain;
  std::uint64_t offset = 0;  // offset of the first byte, from the beginning of the ring's file
  std::uint64_t bytes = 0;
  std::uint64_t value = 0;  // the value of a store
};

/// Performs every call in memory. After `observe` was called, records the calls. `sync` returns 0.
class ObservedPersistence : public Persistence {
 public:
  void observe(const std::byte* base) { base_ = base; }

  void store64(std::uint64_t* to, std::uint64_t value) noexcept override {
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
    add(Event::kStore, to, 8, value);
  }
  std::uint64_t copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept override {
    std::memcpy(to, from, bytes);
    add(Event::kCopy, to, bytes, 0);
    return hash64(from, bytes);
  }
  void flush(const void* address, std::size_t bytes) noexcept override { add(Event::kFlush, address, bytes, 0); }
  void drain() noexcept override { add(Event::kDrain, base_, 0, 0); }
  int sync() noexcept override {
    add(Event::kSync, base_, 0, 0);
    return 0;
  }

  std::vector<PersistenceEvent> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  void add(Event event, const void* address, std::uint64_t bytes, std::uint64_t value) noexcept {
    if (base_ == nullptr) return;
    const std::lock_guard lock(mutex_);
    events_.push_back(
        {event, static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - base_), bytes, value});
  }

  const std::byte* base_ = nullptr;
  std::mutex mutex_;
  std::vector<PersistenceEvent> events_;
};

/// Places a ring behind the first `at` bytes of its file, as libpmemobj could do.
inline void place_ring(RingGeometry& geometry, std::uint32_t slots, std::uint64_t at = kPageBytes) {
  geometry.pool_id = {1, 2};
  geometry.slots.resize(slots);
  place_root(at, geometry);
  at += root_object_bytes(geometry);
  for (SlotPlace& place : geometry.slots) {
    place = place_slot(at, geometry);
    at = place.payload_offset + round_up(geometry.payload_bytes(), kPageBytes);
  }
  geometry.file_bytes = std::max<std::uint64_t>(at, kLeastPoolBytes);
}

class RingInMemory {
 public:
  explicit RingInMemory(std::uint64_t rows, std::uint32_t slots = 3, std::uint64_t chunk_bytes = kChunkBytes)
      : RingInMemory(RingShape::x_only(rows), slots, chunk_bytes) {}
  RingInMemory(const RingShape& shape, std::uint32_t slots, std::uint64_t chunk_bytes = kChunkBytes)
      : geometry_(shape, chunk_bytes) {
    place_ring(geometry_, slots);
    void* memory = mmap(nullptr, geometry_.file_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = static_cast<std::byte*>(memory);
    geometry_.pmdk_hash = pmdk_metadata_hash(bytes(), geometry_.superblock_offset[0]);
    format_ring(bytes(), geometry_, persistence);
  }
  ~RingInMemory() { munmap(base_, geometry_.file_bytes); }
  RingInMemory(const RingInMemory&) = delete;
  RingInMemory& operator=(const RingInMemory&) = delete;

  std::span<std::byte> bytes() const { return {base_, geometry_.file_bytes}; }
  WritableRing ring() const { return WritableRing::parse(bytes(), "ring"); }
  const RingGeometry& geometry() const { return geometry_; }
  std::byte* at(std::uint64_t offset) const { return base_ + offset; }
  void flip_bit(std::uint64_t offset, int bit = 0) const { base_[offset] ^= std::byte{1} << bit; }

  ObservedPersistence persistence;

 private:
  RingGeometry geometry_;
  std::byte* base_ = nullptr;
};

/// The iterate that the tests publish as iteration k: `rows` doubles that are different for each row and each k.
inline std::vector<double> iterate(std::uint64_t k, std::uint64_t rows) {
  std::vector<double> x(rows);
  for (std::uint64_t i = 0; i < rows; ++i) x[i] = static_cast<double>(k) + static_cast<double>(i) / 1024.0;
  return x;
}

inline RunDescription run_of(std::uint64_t rows, std::uint64_t run = 7) {
  RunDescription description;
  description.run_id = {run, run + 1};
  description.entries = rows;
  if (rows <= kMostPayloadBytes / sizeof(double)) description.schema_id = Schema::x_only(rows).id();
  assign(description.solver, "pagerank");
  return description;
}

/// The step descriptor of the iterate of iteration k: step k - 1, and figures that are different for each k.
inline StepWithScalars step_of(std::uint64_t k) {
  return {
      .descriptor = {.step = k - 1, .iteration = k, .residual_l1 = 1.0 / static_cast<double>(k), .generate_ns = 1000}};
}

/// Commits the iterate of iteration k: begin, copy, commit. Afterwards, readers can hold the iterate.
inline void commit_iterate(RingWriter& writer, std::uint64_t k, std::uint64_t rows) {
  ASSERT_EQ(writer.begin(), CommitStatus::kOk);
  writer.copy(iterate(k, rows).data(), step_of(k));
  ASSERT_EQ(writer.commit(), CommitStatus::kOk);
  writer.end_lease();
}

/// A ring in memory, and the ring's writer in a run that has only x.
struct XOnlyRing {
  /// The ring keeps the iterations 1 to `committed`, or the newest of these if it has fewer slots.
  explicit XOnlyRing(std::uint64_t entries, std::uint32_t slots = 3, std::uint64_t committed = 0)
      : rows(entries), memory(entries, slots), writer(next_writer()) {
    begin_x_only(writer, run_of(rows));
    commit_to(committed);
  }

  /// The writer of the ring's next owner, or of another storage.
  RingWriter next_writer(Storage storage = Storage::kDax) {
    return {memory.ring(), memory.persistence, storage, Durability::kPower};
  }
  /// Commits the next iterations up to `last`.
  void commit_to(std::uint64_t last) {
    while (newest < last) commit_iterate(writer, ++newest, rows);
  }
  KeptSlot newest_kept() const { return recover(memory.ring()).kept.back(); }

  const std::uint64_t rows;
  RingInMemory memory;
  RingWriter writer;
  std::uint64_t newest = 0;  // iteration
};

using Iterations = std::vector<std::uint64_t>;

inline Iterations kept_iterations(const RingView& ring) {
  Iterations iterations;
  for (const KeptSlot& kept : recover(ring).kept) iterations.push_back(kept.header.iteration);
  return iterations;
}

}  // namespace ringside
