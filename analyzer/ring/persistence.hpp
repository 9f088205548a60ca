// SPDX-License-Identifier: BSD-3-Clause
// All stores to persistent memory are made through this interface. Therefore a test can replace the hardware by an
// object that records the stores, and can enumerate every image that a crash may leave behind.
//
// Model: a store becomes persistent some time after it was issued. It is certainly persistent once it was flushed (by
// `flush`, or because it was a non-temporal copy) and a later `drain` of the same thread has returned. On a plain file
// (page cache), `flush` and `drain` only determine in which order other processes see the stores; `sync` decides what
// survives power loss. Several threads may call any functions at the same time, each thread for its own bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ringside {

class StepReducer;

/// The reducer of copied bytes, and the place of these bytes in the step (common/reductions/step_reducer.hpp).
struct BytesToReduce {
  StepReducer& reducer;
  std::size_t thread;
  std::size_t variable;
  std::uint64_t first_byte;  // the place of the first byte in the variable
};

/// Calls store(to, word) for each 8-byte word, in ascending order.
template <class Store>
void for_each_word(void* to, const void* from, std::size_t bytes, const Store& store) noexcept {
  auto* target = static_cast<std::uint64_t*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); ++i) {
    std::uint64_t word;
    std::memcpy(&word, source + i * sizeof(word), sizeof(word));
    store(target + i, word);
  }
}

class Persistence {
 public:
  virtual ~Persistence() = default;

  /// One 8-byte store that is never torn: readers and crash images see the old value or the new one. `to` is 8-byte
  /// aligned.
  virtual void store64(std::uint64_t* to, std::uint64_t value) noexcept = 0;

  /// Stores `bytes` bytes (a multiple of 8) from `from` at `to` (8-byte aligned), word by word in ascending order. Each
  /// store is one of `store64`. This default calls `store64` for each word; an implementation may make all stores in
  /// one call.
  virtual void store_words(void* to, const void* from, std::size_t bytes) noexcept;

  /// Copies `bytes` bytes (a multiple of 8; `to` 64-byte aligned) with non-temporal stores (but see expect_payloads);
  /// they are flushed but not drained. Returns `hash64(from, bytes)`, computed while the bytes are in the cache.
  virtual std::uint64_t copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept = 0;

  /// Copies bytes of a field in the same way, at most StepReducer::kMostBytes, and reduces them during the copy. The
  /// stored bytes are reduced, even if `from` changes meanwhile. This default copies first, then reduces; an
  /// implementation may do both at once.
  virtual std::uint64_t copy_reduced(void* to, const void* from, std::size_t bytes, const BytesToReduce& what) noexcept;

  /// Starts writing back the cache lines that hold [address, address + bytes).
  virtual void flush(const void* address, std::size_t bytes) noexcept = 0;

  /// Waits until all bytes that this thread flushed or copied are persistent (DAX), or are visible to all processes in
  /// order (page cache).
  virtual void drain() noexcept = 0;

  /// Announces the size of a step's payload. On a plain file, small payloads are then copied with ordinary stores: they
  /// stay in the cache, from which the reductions read them at once and for the change of the next step.
  virtual void expect_payloads(std::uint64_t /*bytes*/) noexcept {}

  /// Announces that `sync` follows every few copies from now on; an implementation may then copy with another method.
  /// Called while no thread copies.
  virtual void expect_syncs() noexcept {}

  /// Announces that no `sync` follows. On a plain file, a separate thread then checks at intervals whether stored bytes
  /// reach the disk, and notes a failure for `store_error`. Steps do not wait for that thread, but the end of the run
  /// waits for a check that is in progress. If the system refuses to start the thread, failures are not noticed.
  virtual void watch_disk() noexcept {}

  /// Makes everything stored so far survive power loss. Returns 0 or an errno value. After an error it is not known
  /// which bytes survive, and the run must stop. On DAX, `sync` has nothing to do.
  virtual int sync() noexcept = 0;

  /// Whether `sync` never waits for a disk, because the file system keeps its files in memory. The ring's writer then
  /// syncs each commit itself.
  virtual bool syncs_at_once() const noexcept { return false; }

  /// Returns 0, or the errno value of the first store or sync that did not reach its file. Cheap. On an error the run
  /// must stop.
  virtual int store_error() const noexcept { return 0; }
};

/// Calls flush and drain.
void persist(Persistence& persistence, const void* address, std::size_t bytes) noexcept;

}  // namespace ringside
