// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/scenarios/tracing_persistence.hpp"

#include <omp.h>

#include <cstring>

#include "common/kernels/hash.hpp"

namespace ringside::crash {

void TracingPersistence::add(Event event) noexcept {
  event.phase = phase_;
  if (omp_in_parallel() == 0) {
    if (is_store(event.kind)) pool_.store(event.offset, event.value);
    trace_.push_back(event);
    return;
  }
  const int thread = omp_get_thread_num();
  event.thread = static_cast<std::uint8_t>(thread);
  if (is_store(event.kind)) __atomic_store_n(pool_.word(event.offset), event.value, __ATOMIC_RELEASE);
  of_thread_[thread].push_back(event);
}

void TracingPersistence::store64(std::uint64_t* to, std::uint64_t value) noexcept {
  add({.kind = EventKind::kStore, .offset = pool_.offset_of(to), .value = value});
}

std::uint64_t TracingPersistence::copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, static_cast<const std::byte*>(from) + at, sizeof(word));
    add({.kind = EventKind::kCopyWord,
         .ends_copy = at + sizeof(word) == bytes,
         .offset = pool_.offset_of(to) + at,
         .value = word});
  }
  return hash64(from, bytes);
}

void TracingPersistence::flush(const void* address, std::size_t bytes) noexcept {
  add({.kind = EventKind::kFlush, .offset = pool_.offset_of(address), .value = bytes});
}

void TracingPersistence::drain() noexcept {
  add({.kind = EventKind::kDrain});
}

int TracingPersistence::sync() noexcept {
  std::unique_lock lock(mutex_);
  if (abandoned_) return 0;
  add({.kind = EventKind::kSyncBegin});
  if (std::this_thread::get_id() != driver_) {
    in_sync_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return may_end_ || abandoned_; });
    in_sync_ = may_end_ = false;
    if (abandoned_) return 0;
  }
  add({.kind = EventKind::kSyncEnd});
  return 0;
}

void TracingPersistence::join_threads(Random& random) {
  std::size_t next[kMaxThreads] = {};
  while (true) {
    int waiting[kMaxThreads];
    std::uint64_t count = 0;
    for (int thread = 0; thread < kMaxThreads; ++thread) {
      if (next[thread] < of_thread_[thread].size()) waiting[count++] = thread;
    }
    if (count == 0) break;
    // One thread advances by about a chunk, then another thread.
    const int thread = waiting[random.below(count)];
    for (std::uint64_t events = 1 + random.below(48); events > 0; --events) {
      if (next[thread] == of_thread_[thread].size()) break;
      trace_.push_back(of_thread_[thread][next[thread]++]);
    }
  }
  for (Trace& log : of_thread_) log.clear();
}

void TracingPersistence::await_sync() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return in_sync_; });
}

void TracingPersistence::end_sync() {
  const std::lock_guard lock(mutex_);
  may_end_ = true;
  in_sync_ = false;
  changed_.notify_all();
}

void TracingPersistence::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

}  // namespace ringside::crash
