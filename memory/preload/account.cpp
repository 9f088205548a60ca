// SPDX-License-Identifier: BSD-3-Clause
#include "memory/preload/account.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <initializer_list>

#include "memory/calls/calls.hpp"
#include "memory/core.hpp"
#include "memory/faults/bus_errors.hpp"
#include "memory/preload/account_page.hpp"
#include "memory/preload/environment.hpp"

namespace ringside::memory {

constinit Account account;

namespace {

constexpr uint32_t kFaultsBetween = 256;     // faults between two updates: a killed process loses at most these
constexpr int64_t kFlush = int64_t{1} << 16; // bytes that a thread may keep uncounted; they limit the error of the peak

// The variable is initial-exec (the build sets this), so that its first access does not allocate.
thread_local int64_t own_bytes = 0;
thread_local uint32_t own_count = 0;
constinit std::atomic<int64_t> small_bytes{0}, small_peak{0};
constinit std::atomic<uint64_t> small_count{0};
constinit std::atomic<uint32_t> faults_seen{0};

void flush_own() {
  const int64_t now = small_bytes.fetch_add(own_bytes, std::memory_order_relaxed) + own_bytes;
  small_count.fetch_add(own_count, std::memory_order_relaxed);
  own_bytes = 0;
  own_count = 0;
  int64_t peak = small_peak.load(std::memory_order_relaxed);
  while (peak < now && !small_peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void add(int64_t bytes) {
  own_bytes += bytes;
  if (own_bytes >= kFlush || own_bytes <= -kFlush || own_count >= 1024) flush_own();
}

uint64_t at_least_zero(int64_t value) {
  return value < 0 ? 0 : static_cast<uint64_t>(value);
}

void after_one_fault() noexcept {
  if (faults_seen.fetch_add(1, std::memory_order_relaxed) % kFaultsBetween == 0) account.publish();
}

}  // namespace

void Account::start() noexcept {
  const char* const path = getenv(kAccountVariable);
  if (path == nullptr) return;
  const long file = raw(SYS_openat, AT_FDCWD, as_long(path), O_RDWR | O_CLOEXEC);
  if (file < 0) return;  // `ringside-memory run` has ended: there is no reader
  const long at = raw(SYS_mmap, 0, sizeof(AccountPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  raw(SYS_close, file);
  if (at < 0 && at > -4096) return;
  page_ = reinterpret_cast<AccountPage*>(static_cast<uintptr_t>(at));
  if (page_->mark != kAccountMark) return;
  take_entry();
  publish();
  after_fault = after_one_fault;
}

void Account::take_entry() noexcept {
  const uint32_t number = page_->taken.fetch_add(1);
  if (number >= kAccountEntries) return;
  AccountEntry& entry = page_->entries[number];
  entry.pid = static_cast<int32_t>(raw(SYS_getpid));
  entry.forked = forked_ ? 1 : 0;
  raw(SYS_prctl, PR_GET_NAME, as_long(entry.name));
  entry_ = &entry;
}

void Account::start_in_child() noexcept {
  entry_ = nullptr;
  forked_ = true;
  publishing_.store(0);
  for (auto* counter : {&large_, &refused_, &forks_copied_, &forks_copied_bytes_, &forks_without_copy_})
    counter->store(0);
}

void Account::publish() noexcept {
  if (page_ == nullptr || page_->mark != kAccountMark || publishing_.exchange(1) != 0) return;
  struct ringside_memory_stats stats {};
  stats.struct_bytes = sizeof stats;
  const bool used = core.ready() && ringside_memory_stats(&stats) == 0;
  if (entry_ == nullptr && forked_ && used && stats.faults + large_.load() > 0) take_entry();
  if (entry_ != nullptr) {
    AccountEntry& entry = *entry_;
    entry.version.fetch_add(1);
    if (used) entry.counters.stats = stats;
    entry.serves_system_calls = core.userfault.kernel_faults || calls.handling() ? 1 : 0;
    entry.counters.small_allocations = small_count.load();
    entry.counters.small_bytes = at_least_zero(small_bytes.load());
    entry.counters.small_peak_bytes = at_least_zero(small_peak.load());
    entry.counters.large_allocations = large_.load();
    entry.counters.refused = refused_.load();
    entry.counters.forks_copied = forks_copied_.load();
    entry.counters.forks_copied_bytes = forks_copied_bytes_.load();
    entry.counters.forks_without_copy = forks_without_copy_.load();
    entry.version.fetch_add(1);
  }
  publishing_.store(0);
}

void Account::finish() noexcept {
  flush_own();
  publish();
}

void Account::count_fork(bool copied, uint64_t bytes) noexcept {
  (copied ? forks_copied_ : forks_without_copy_).fetch_add(1);
  forks_copied_bytes_.fetch_add(bytes);
}

void Account::count_small(size_t bytes) noexcept {
  ++own_count;
  add(static_cast<int64_t>(bytes));
}

void Account::count_small_freed(size_t bytes) noexcept {
  add(-static_cast<int64_t>(bytes));
}

void Account::count_small_change(size_t before, size_t after) noexcept {
  ++own_count;
  add(static_cast<int64_t>(after) - static_cast<int64_t>(before));
}

}  // namespace ringside::memory
