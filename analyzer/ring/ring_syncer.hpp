// SPDX-License-Identifier: BSD-3-Clause
// The thread that waits for the disk, so that the solver and the release of its buffer do not wait. On a plain file a
// commit survives power loss only after fdatasync. The thread syncs whenever the newest commit is not yet persisted;
// several commits may share a sync.
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
  /// persisted: everything up to this commit_seq survives power loss. From now on only this thread writes it.
  RingSyncer(Persistence& persistence, std::atomic<std::uint64_t>& persisted);
  ~RingSyncer() { stop(); }

  /// Asks for a sync that persists commit `commit_seq`, all of which was stored. Does not wait.
  void request(std::uint64_t commit_seq) noexcept;

  /// Waits until a commit after `commit_seq` is persisted; one must have been requested. False if a sync failed.
  bool wait_past(std::uint64_t commit_seq) noexcept;

  /// The errno value of the first sync that failed, or 0. After a failure nothing is synced any more: the kernel
  /// reports the loss of a page once, and a second fdatasync would succeed as if nothing had been lost.
  int error() const noexcept { return error_.load(std::memory_order_acquire); }

  /// Ends the thread after the sync in progress; the caller persists what was requested later.
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
  std::jthread thread_;          // last: it uses all of the above
};

}  // namespace ringside
