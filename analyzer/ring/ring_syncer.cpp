// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/ring_syncer.hpp"

#include "common/platform/thread.hpp"

namespace ringside {

RingSyncer::RingSyncer(Persistence& persistence, std::atomic<std::uint64_t>& persisted, SyncPace pace)
    : persistence_(persistence), persisted_(persisted), pace_(pace), requested_(persisted.load()) {
  thread_ = quiet_thread([this] { run(); });
}

void RingSyncer::request(std::uint64_t commit_seq) noexcept {
  // Both sides store first and then read what the other side stores, all in one order (seq_cst). So either this thread
  // reads the new wake_at_, or the syncer's thread reads the new request before it sleeps.
  requested_.store(commit_seq);
  if (commit_seq < wake_at_.load()) return;
  {
    const std::lock_guard lock(mutex_);  // taken only after the thread is asleep: it cannot miss the notification
    if (commit_seq < wake_at_.load()) return;
    wake_at_.store(kAwake);  // one notification is enough
  }
  changed_.notify_all();
}

void RingSyncer::hurry() noexcept {
  if (persisted_.load(std::memory_order_acquire) == requested_.load(std::memory_order_relaxed)) return;
  {
    const std::lock_guard lock(mutex_);
    urgent_ = requested_.load();
  }
  changed_.notify_all();
}

bool RingSyncer::wait_past(std::uint64_t commit_seq) noexcept {
  if (persisted_.load(std::memory_order_acquire) > commit_seq) return true;
  Lock lock(mutex_);
  // A sync in progress may end with an earlier commit; then the next sync begins at once, too.
  urgent_ = requested_.load();
  changed_.notify_all();
  changed_.wait(lock, [&] { return persisted_.load() > commit_seq || error_.load() != 0; });
  return persisted_.load() > commit_seq;
}

void RingSyncer::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RingSyncer::run() noexcept {
  Lock lock(mutex_);
  auto delayed_until = std::chrono::steady_clock::now();
  while (true) {
    const std::uint64_t persisted = persisted_.load();
    sleep(lock, persisted + pace_.batch, delayed_until);
    sleep(lock, persisted + 1);
    if (stopping_) return;
    const std::uint64_t syncing = requested_.load();
    delayed_until = std::chrono::steady_clock::now() + pace_.delay;
    lock.unlock();
    const int error = persistence_.sync();
    lock.lock();
    if (error != 0) {
      error_.store(error, std::memory_order_release);
    } else {
      persisted_.store(syncing, std::memory_order_release);
    }
    changed_.notify_all();
    if (error != 0) return;
  }
}

bool RingSyncer::must_wake(std::uint64_t wake_at) const noexcept {
  return stopping_ || requested_.load() >= wake_at || urgent_ > persisted_.load();
}

/// Sleeps until commit `wake_at` is requested, a commit is urgent, or the thread must stop; at most until `until`.
void RingSyncer::sleep(Lock& lock, std::uint64_t wake_at, std::chrono::steady_clock::time_point until) noexcept {
  wake_at_.store(wake_at);
  changed_.wait_until(lock, until, [&] { return must_wake(wake_at); });
  wake_at_.store(kAwake);
}

/// As above, without a time limit.
void RingSyncer::sleep(Lock& lock, std::uint64_t wake_at) noexcept {
  wake_at_.store(wake_at);
  changed_.wait(lock, [&] { return must_wake(wake_at); });
  wake_at_.store(kAwake);
}

}  // namespace ringside
