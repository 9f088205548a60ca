// SPDX-License-Identifier: BSD-3-Clause
// A thread that waits for the disk, so that neither the solver nor the release of its buffer has to wait. On a plain
// file a commit survives power loss only after fdatasync. Several commits share a sync, because each wake-up of the
// thread costs a small step more than its copy. A sync of unpersisted commits begins as soon as one of these is true:
//
//   - no sync has begun for `delay`
//   - `batch` commits are not persisted
//   - the writer waits for a commit (`wait_past`), or wants no delay (`hurry`)
//
// So a sync begins at most `delay` after a commit, or when the sync in progress ends. In a run whose steps are further
// apart than `delay`, it begins at the commit. During a delay, the thread sleeps with a time limit: if the run pauses,
// it syncs the last commits without being woken by the writer.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "analyzer/ring/persistence.hpp"

namespace ringside {

/// When a sync begins. docs/use/promises.md states the default delay.
struct SyncPace {
  std::uint64_t batch = 1;  // at least 1, which means that no commit is delayed
  std::chrono::nanoseconds delay = std::chrono::milliseconds(1);
};

class RingSyncer {
 public:
  /// persisted: the newest commit_seq that survives power loss. From now on only the syncer's own thread writes
  /// `persisted`.
  RingSyncer(Persistence& persistence, std::atomic<std::uint64_t>& persisted, SyncPace pace);
  ~RingSyncer() { stop(); }

  /// Requests a sync that persists commit `commit_seq`. This commit must have been stored completely. Does not wait,
  /// and makes no system call unless the sync begins now.
  void request(std::uint64_t commit_seq) noexcept;

  /// Lets the sync of all requested commits begin without delay. Does not wait for it.
  void hurry() noexcept;

  /// Waits until a commit after `commit_seq` is persisted, without delay. A sync of such a commit must have been
  /// requested. Returns false if a sync failed.
  bool wait_past(std::uint64_t commit_seq) noexcept;

  /// The errno value of the first failed sync, or 0. After a failure nothing more is synced, because the kernel reports
  /// a lost page only once: a second fdatasync would succeed as if the page were not lost.
  int error() const noexcept { return error_.load(std::memory_order_acquire); }

  /// Ends the thread after the sync in progress; the caller persists later requests, and those that were delayed.
  void stop() noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;

  void run() noexcept;
  bool must_wake(std::uint64_t wake_at) const noexcept;
  void sleep(Lock& lock, std::uint64_t wake_at, std::chrono::steady_clock::time_point until) noexcept;
  void sleep(Lock& lock, std::uint64_t wake_at) noexcept;

  static constexpr std::uint64_t kAwake = ~std::uint64_t{0};

  Persistence& persistence_;
  std::atomic<std::uint64_t>& persisted_;
  const SyncPace pace_;
  std::atomic<int> error_{0};
  std::atomic<std::uint64_t> requested_;        // the newest commit to persist; only the ring's writer stores it
  std::atomic<std::uint64_t> wake_at_{kAwake};  // the request that must wake the thread; changed only under mutex_
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t urgent_ = 0;  // guarded by mutex_: commits up to this one are synced without delay
  bool stopping_ = false;     // guarded by mutex_
  std::jthread thread_;       // last member, because it uses all members above
};

}  // namespace ringside
