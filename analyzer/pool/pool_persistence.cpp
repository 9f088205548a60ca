// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/pool_persistence.hpp"

#include <libpmem.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "common/files/data_sync.hpp"
#include "common/kernels/copy.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/thread.hpp"
#include "common/reductions/step_reducer.hpp"

namespace ringside {
namespace {

// Two payloads of this size fit into a core's own cache or its share of the last one. (Measured on Zen 3, AVX2: a
// payload of 0.8 MB is copied and reduced with its change in 78 us, or in 157 us with non-temporal stores; with 8 MB,
// these are 4.4 and 3.2 ms.)
constexpr std::uint64_t kCachedBytes = std::uint64_t{2} << 20;

constexpr std::chrono::seconds kBetweenLooks{10};  // between two checks of a disk to which no sync is made

class PoolPersistence : public Persistence {
 public:
  explicit PoolPersistence(std::shared_ptr<WatchedMapping> watched) : watched_(std::move(watched)) {}

  int store_error() const noexcept override { return watched_->error(); }

  void store64(std::uint64_t* to, std::uint64_t value) noexcept override {
    // A release store is a plain store on x86-64. The compiler may not move or split it, and readers of the mapping see
    // the stores in the order in which they are made.
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
  }

  void store_words(void* to, const void* from, std::size_t bytes) noexcept override {
    for_each_word(to, from, bytes, [this](std::uint64_t* at, std::uint64_t word) {
      PoolPersistence::store64(at, word);  // a qualified call is not virtual
    });
  }

  std::uint64_t copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept override {
    return copy_nontemporal_hashed(to, from, bytes);
  }

  std::uint64_t copy_reduced(void* to, const void* from, std::size_t bytes,
                             const BytesToReduce& what) noexcept override {
    return what.reducer.copy_nontemporal(what.thread, what.variable, to, from, what.first_byte, bytes);
  }

 protected:
  const std::shared_ptr<WatchedMapping> watched_;
};

/// Persistent memory. libpmem chooses the flush instruction here; none is needed if the caches are inside the
/// power-fail domain (eADR).
class DaxPersistence final : public PoolPersistence {
 public:
  using PoolPersistence::PoolPersistence;

  void flush(const void* address, std::size_t bytes) noexcept override { pmem_flush(address, bytes); }

  void drain() noexcept override {
    _mm_sfence();  // for non-temporal stores: libpmem omits the fence if its own flushes need none
    pmem_drain();
  }

  int sync() noexcept override { return store_error(); }
};

/// A plain file in the page cache. Other processes see stores at once, so stores survive the death of this process. The
/// disk receives them in any order, until a sync returns.
///
/// A sync write-protects the pages that it has written. So the next store to each of these pages through the mapping
/// causes a page fault. These faults halved the speed of copies, compared with write(2) into the same pages. Therefore
/// copies use write(2) where syncs follow every few copies. Writes and stores use the same page cache, so every process
/// that maps the file sees both. On tmpfs and ramfs no sync writes pages, so copies are stores.
class FilePersistence final : public PoolPersistence {
 public:
  FilePersistence(UniqueFd file, const std::byte* base, std::shared_ptr<WatchedMapping> watched)
      : PoolPersistence(std::move(watched)),
        file_(std::move(file)),
        base_(base),
        in_memory_(is_in_memory(file_.get())) {}

  std::uint64_t copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept override {
    if (cached_ && !syncs_follow_) return copy_cached_hashed(to, from, bytes);
    if (!syncs_follow_ || !write(to, from, bytes)) return PoolPersistence::copy_nontemporal(to, from, bytes);
    return hash64(from, bytes);  // the bytes are still in the cache
  }

  std::uint64_t copy_reduced(void* to, const void* from, std::size_t bytes,
                             const BytesToReduce& what) noexcept override {
    if (!syncs_follow_) return PoolPersistence::copy_reduced(to, from, bytes, what);
    const StagedBytes staged = what.reducer.stage(what.thread, what.variable, from, what.first_byte, bytes);
    if (!write(to, staged.bytes, bytes)) ringside::copy_nontemporal(to, staged.bytes, bytes);
    return staged.hash;
  }

  void expect_payloads(std::uint64_t bytes) noexcept override { cached_ = bytes <= kCachedBytes; }
  void expect_syncs() noexcept override { syncs_follow_ = !in_memory_; }

  bool syncs_at_once() const noexcept override { return in_memory_; }

  void watch_disk() noexcept override try {
    if (disk_watch_.joinable()) return;
    disk_watch_ = quiet_thread([this](const std::stop_token& stop) {
      std::mutex mutex;
      std::condition_variable_any wake;
      for (std::unique_lock lock(mutex); !stop.stop_requested() && watched_->error() == 0;) {
        if (const int error = lost_writes(file_.get())) watched_->note(error);
        wake.wait_for(lock, stop, kBetweenLooks, [] { return false; });
      }
    });
  } catch (const std::exception&) {
  }

  void flush(const void*, std::size_t) noexcept override {}
  void drain() noexcept override { _mm_sfence(); }  // without it, non-temporal stores wait in write-combining buffers

  int sync() noexcept override {
    const int error = in_memory_ ? sync_in_memory(file_.get()) : sync_data(file_.get());
    if (error != 0) watched_->note(error);
    // In memory, every byte is stored through the mapping. So the signal of a missing page reports a truncated file,
    // and the end of the run compares the sizes.
    if (!in_memory_) watched_->intact_or_noted();
    return store_error();  // includes errors of stores to pages that the disk never provided
  }

 private:
  /// False if the write was refused, or cut short by a signal: the caller then stores through the mapping, and the next
  /// sync returns any error. A write makes a truncated file longer. But a pool's content ends before the end of its
  /// file, so the next sync, or the check at the end of the run, still finds that the file is too short.
  bool write(void* to, const void* from, std::size_t bytes) const noexcept {
    if (!watched_->intact_or_noted()) return false;
    return pwrite(file_.get(), from, bytes, static_cast<const std::byte*>(to) - base_) == static_cast<ssize_t>(bytes);
  }

  UniqueFd file_;
  const std::byte* base_;
  const bool in_memory_;
  bool syncs_follow_ = false;
  bool cached_ = false;
  std::jthread disk_watch_;  // last member, because its thread uses the others
};

}  // namespace

std::unique_ptr<Persistence> make_pool_persistence(Storage storage, UniqueFd file, const std::byte* base,
                                                   std::shared_ptr<WatchedMapping> watched) {
  if (persists_in_place(storage)) return std::make_unique<DaxPersistence>(std::move(watched));
  return std::make_unique<FilePersistence>(std::move(file), base, std::move(watched));
}

}  // namespace ringside
