// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/ring_syncer.hpp"

#include "common/platform/thread.hpp"

namespace ringside {

RingSyncer::RingSyncer(Persistence& persistence, std::atomic<std::uint64_t>& persisted)
    : persistence_(persistence), persisted_(persisted), requested_(persisted.load()) {
  thread_ = quiet_thread([this] { run(); });
}

void RingSyncer::request(std::uint64_t commit_seq) noexcept {
  {
    const std::lock_guard lock(mutex_);
    requested_ = commit_seq;
  }
  changed_.notify_all();
}

bool RingSyncer::wait_past(std::uint64_t commit_seq) noexcept {
  if (persisted_.load(std::memory_order_acquire) > commit_seq) return true;
  std::unique_lock lock(mutex_);
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
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || requested_ > persisted_.load(); });
    if (stopping_) return;
    const std::uint64_t syncing = requested_;
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

}  // namespace ringside
