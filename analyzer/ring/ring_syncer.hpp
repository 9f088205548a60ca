// The thread that waits for the disk, so that the solver and the release of its buffer do not: on a plain file a commit
// survives power loss only after fdatasync. It syncs for the newest commit whenever there is one not yet persisted;
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
  /// persisted: the commit_seq everything up to which survives power loss; written by this thread only from now on.
  RingSyncer(Persistence& persistence, std::atomic<std::uint64_t>& persisted);
  ~RingSyncer() { stop(); }

  /// All of commit `commit_seq` was stored: have it persisted. Does not wait.
  void request(std::uint64_t commit_seq) noexcept;

  /// Waits until a commit after `commit_seq` is persisted; one must have been requested. False if a sync failed.
  bool wait_past(std::uint64_t commit_seq) noexcept;

  /// The errno value of the first sync that failed, or 0. After a failure nothing is synced any more: the kernel
  /// reports the loss of a page once, and a second fdatasync would succeed as if nothing had been lost.
  int error() const noexcept { return error_.load(std::memory_order_acquire); }

  /// Ends the thread after the sync in progress; what was requested later is left to the caller.
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
