// SPDX-License-Identifier: BSD-3-Clause
// A thread that waits for the disk, so that neither the solver nor the release of its buffer has to wait. On a plain
// file a commit survives power loss only after fdatasync. The thread syncs whenever the newest commit is not yet
// persisted; several commits may share a sync.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "analyzer/ring/persistence.hpp"

namespace ringside {

class RingSyncer {
 public:
  /// persisted: the newest commit_seq that survives power loss. From now on only the syncer's own thread writes
  /// `persisted`.
  RingSyncer(Persistence& persistence, std::atomic<std::uint64_t>& persisted);
  ~RingSyncer() { stop(); }

  /// Requests a sync that persists commit `commit_seq`. This commit must have been stored completely. Does not wait.
  void request(std::uint64_t commit_seq) noexcept;

  /// Waits until a commit after `commit_seq` is persisted. A sync of such a commit must have been requested. Returns
  /// false if a sync failed.
  bool wait_past(std::uint64_t commit_seq) noexcept;

  /// The errno value of the first failed sync, or 0. After a failure nothing more is synced, because the kernel reports
  /// a lost page only once: a second fdatasync would succeed as if the page were not lost.
  int error() const noexcept { return error_.load(std::memory_order_acquire); }

  /// Ends the thread after the sync in progress; the caller persists later requests.
  void stop() noexcept;

 private:
  void run() noexcept;

  Persistence& persistence_;
  std::atomic<std::uint64_t>& persisted_;
  std::atomic<int> error_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t requested_ = 0;  // guarded by mutex_
  bool stopping_ = false;        // guarded by mutex_
  std::jthread thread_;          // last member, because it uses all members above
};

}  // namespace ringside
