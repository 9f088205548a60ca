// SPDX-License-Identifier: BSD-3-Clause
// This process's account for `ringside-memory run`: the process copies its counters to its entry of the account page,
// after every 256 faults and at its end. Each thread first counts its small allocations in its own counters, so that
// threads share no cache line.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace ringside::memory {

class Account {
 public:
  /// Maps the page, if the environment names it, and takes an entry.
  void start() noexcept;
  /// In a forked child: takes an entry for the child once the child uses its arena.
  void start_in_child() noexcept;

  /// Copies the counters to the entry. Callable from a signal handler.
  void publish() noexcept;
  /// Call it at the end of the process: adds this thread's own counts, and publishes.
  void finish() noexcept;

  void count_large() noexcept { large_.fetch_add(1, std::memory_order_relaxed); }
  void count_refused() noexcept { refused_.fetch_add(1, std::memory_order_relaxed); }
  void count_fork(bool copied, uint64_t bytes) noexcept;

  /// These functions count a small allocation, or its release. `bytes`: its size with malloc's overhead.
  static void count_small(size_t bytes) noexcept;
  static void count_small_freed(size_t bytes) noexcept;
  /// Counts that the size of a small allocation has changed.
  static void count_small_change(size_t before, size_t after) noexcept;

 private:
  void take_entry() noexcept;
  struct AccountEntry* entry_ = nullptr;
  struct AccountPage* page_ = nullptr;
  bool forked_ = false;
  std::atomic<uint32_t> publishing_{0};
  std::atomic<uint64_t> large_{0}, refused_{0}, forks_copied_{0}, forks_copied_bytes_{0}, forks_without_copy_{0};
};

extern Account account;

}  // namespace ringside::memory
