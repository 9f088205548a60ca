// SPDX-License-Identifier: BSD-3-Clause
// Decides which granules have DRAM, and in which order they lose it: S3-FIFO (Yang et al., SOSP 2023), adapted to a
// library that sees only faults. New granules join the small queue. A granule that leaves a queue is unmapped and waits
// in probation: a touch there proves that it is reused, and moves it to the main queue. Untouched granules become
// absent and leave a ghost for a limited time; a granule with a ghost returns directly to the main queue.
//
// Granules are divided among several caches by address: neighbours, which a stream evicts together, are in one cache.
// Each cache has its own lock and its own cache lines of the processor, so that threads with faults at different places
// share nothing.
#pragma once

#include <stdint.h>

#include <atomic>

#include "memory/arena/geometry.hpp"
#include "memory/arena/parking.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

inline constexpr uint32_t kNoNode = UINT32_MAX;
inline constexpr uint32_t kMostPartitions = 16;

enum ListName : uint8_t { kSmall, kMain, kProbating, kVacant, kUnused, kLists, kNoList = 255 };
// kVacant: nodes with a page in a slot and no granule. kUnused: nodes without a page.

/// The DRAM of one granule.
struct Node {
  uint32_t granule = 0;
  uint32_t next = kNoNode, previous = kNoNode;
  uint32_t slot = kNoSlot;  // the page's slot while it is not in the arena
  uint32_t stamp = 0;       // the time at which it joined its list, in units of 2^20 ns
  uint32_t came_alone = 0;  // see memory/replacement/neighbourhood.hpp
  uint8_t list = kNoList;
  uint8_t was_main = 0;  // in probation: whether it left the main queue; it returns there if a neighbour is touched
};

/// The time in units of 2^20 ns, for the age of a node.
inline uint32_t stamp_now() noexcept {
  return static_cast<uint32_t>(now_ns() >> 20);
}

struct List {
  uint32_t head = kNoNode, tail = kNoNode;
  std::atomic<uint32_t> count{0};  // written with the lock held, read without it to choose a cache
  uint32_t size() const noexcept { return count.load(std::memory_order_relaxed); }
};

/// Faults and evictions increment these counters; stats adds the counters of all caches.
struct Counters {
  uint64_t faults, faults_probation, faults_zero, faults_far, faults_write;
  uint64_t read_bytes, written_bytes, evicted, evicted_clean, read_ahead, read_ahead_used, busy, fault_ns;
};

/// Decides from an action's past savings and costs, in any unit, whether the action pays.
class Balance {
 public:
  /// If the action does not pay, this is nevertheless true every 32nd time, to test whether the action pays by now.
  bool wanted() noexcept {
    return balance_.load(std::memory_order_relaxed) >= 0 || asked_.fetch_add(1, std::memory_order_relaxed) % 32 == 0;
  }
  /// With the cache's lock held.
  void add(int change) noexcept {
    constexpr int kMost = 256;
    const int now = balance_.load(std::memory_order_relaxed) + change;
    balance_.store(now < -kMost ? -kMost : now > kMost ? kMost : now, std::memory_order_relaxed);
  }

 private:
  std::atomic<int> balance_{0};
  std::atomic<uint32_t> asked_{0};
};

/// Changes the balance of savings and costs of one decision for a piece of 1 MiB: a signed byte of that piece. If two
/// threads add at once, one change is lost. This does no harm, because later changes make up for it.
inline void add_to_balance(std::atomic<int8_t>& balance, int change, int most) noexcept {
  const int now = balance.load(std::memory_order_relaxed) + change;
  balance.store(static_cast<int8_t>(now < -most ? -most : now > most ? most : now), std::memory_order_relaxed);
}

struct alignas(64) Cache {
  Lock lock;
  uint8_t kind = 0, partition = 0;
  List lists[kLists];
  /// Whether it pays to write-protect the granules around an eviction's victim. Granules to which nothing is stored
  /// later then leave together, without a comparison; but a store costs a second fault.
  Balance cleaning;
  const void* last_thread = nullptr;  // the thread of the last fault here
  uint32_t faults_alone = 0;          // the faults of that thread since the last fault of another thread
  uint32_t came_alone = 0;            // the number of granules that faults outside of streams brought in singly
  Counters counters{};
  std::atomic<uint64_t>* ghosts = nullptr;  // indexed by the granule's hash: granule + 1, and the ghost's number
  uint32_t ghosts_made = 0;

  uint32_t pages() const noexcept { return evictable() + lists[kVacant].size(); }
  uint32_t evictable() const noexcept { return lists[kSmall].size() + lists[kMain].size() + lists[kProbating].size(); }

  // Both functions need the lock. They count the cost of a second fault. The unit is the time that a granule saves if
  // it leaves unchanged. This time is longer if other threads run, because it includes an interruption of their cores.
  void fault_of_this_thread() noexcept {
    const void* const me = __builtin_thread_pointer();
    faults_alone = me == last_thread ? faults_alone + (faults_alone < kAlone ? 1 : 0) : 0;
    last_thread = me;
  }
  void stored_after_cleaning() noexcept { cleaning.add(faults_alone == kAlone ? -12 : -1); }
  static constexpr uint32_t kAlone = 256;
};

class Caches {
 public:
  /// Makes the tables for up to `most_bytes` of DRAM. Returns 0 or -errno.
  long start(uint64_t most_bytes, uint32_t partitions) noexcept;
  void stop() noexcept;

  uint32_t count() const noexcept { return partitions_ * kKinds; }
  uint32_t partitions() const noexcept { return partitions_; }
  Cache& at(uint32_t index) const noexcept { return caches_[index]; }
  Cache& of(uint32_t granule, uint32_t kind) const noexcept {
    const uint32_t chunk = granule >> (6 + kind);  // 64 neighbours
    return caches_[kind * partitions_ + (((chunk * 0x9E3779B1u) >> 16) & (partitions_ - 1))];
  }
  Node& node(uint32_t number) const noexcept { return nodes_[number]; }

  // With the cache's lock held:
  void push(Cache& cache, ListName list, uint32_t node, uint32_t stamp) const noexcept;
  void unlink(Cache& cache, uint32_t node) const noexcept;
  uint32_t pop(Cache& cache, ListName list) const noexcept;
  /// A node without a page.
  uint32_t new_node(Cache& cache) noexcept;
  bool ghost(const Cache& cache, uint32_t granule) const noexcept;
  void remember(Cache& cache, uint32_t granule) const noexcept;

  /// DRAM in use and its limit.
  bool charge(uint64_t bytes) noexcept;
  void uncharge(uint64_t bytes) noexcept { dram_bytes.fetch_sub(bytes); }
  alignas(64) std::atomic<uint64_t> dram_bytes{0};
  std::atomic<uint64_t> dram_peak_bytes{0}, limit{0}, pinned_bytes{0};
  /// Whether a device may store into a page without a pin (io_submit returns before the store). Write-protection does
  /// not stop stores of a device, but the kernel refuses a MOVE of the page until they end.
  std::atomic<bool> devices_store{false};

 private:
  std::atomic<uint64_t>& ghost_place(const Cache& cache, uint32_t granule) const noexcept;
  Cache* caches_ = nullptr;
  Node* nodes_ = nullptr;
  uint64_t most_nodes_ = 0;
  std::atomic<uint32_t> nodes_made_{0};
  uint32_t partitions_ = 0;
};

extern Caches caches;

}  // namespace ringside::memory
