// SPDX-License-Identifier: BSD-3-Clause
// System calls that leave errno alone, and what is built on them: sleeping on a word, a lock, a stretch without
// signals. The fault path runs inside a signal handler of any program, perhaps one that replaced malloc: it may use
// nothing else.
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <atomic>

#if !defined(__x86_64__)
#include <errno.h>
#include <unistd.h>
#endif

namespace ringside::memory {

/// A preload library wants the library's descriptors out of the program's way: numbers from this one on. 0: any.
extern int least_descriptor;
/// A new descriptor, moved there; errors stay.
long out_of_the_way(long descriptor) noexcept;

/// The result of the kernel: a value, or -errno. One instruction for all calls of the library: the filter of
/// memory/calls lets it pass.
#if defined(__x86_64__)
/// Where the code lies that makes the calls: from `first` to `end`, `site` behind the instruction.
struct RawCode {
  const char *first, *site, *end;
};
RawCode raw_code() noexcept;
/// From now on by the copy of that code at `first`.
void use_raw_code(const void* first) noexcept;

extern "C" __attribute__((visibility("hidden"))) long ringside_memory_raw(long number, long a, long b, long c, long d,
                                                                          long e, long f) noexcept;
#endif

inline long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
#if defined(__x86_64__)
  return ringside_memory_raw(number, a, b, c, d, e, f);
#else
  const int kept = errno;
  long result = syscall(number, a, b, c, d, e, f);
  if (result == -1) result = -errno;
  errno = kept;
  return result;
#endif
}

inline long as_long(const void* pointer) noexcept {
  return static_cast<long>(reinterpret_cast<uintptr_t>(pointer));
}

inline void pause_core() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void yield_core() noexcept;
/// Sleeps while `*word` is `seen`, until wake_all. May return early.
void sleep_while(const void* word, uint32_t seen) noexcept;
void wake_all(const void* word) noexcept;
/// Monotonic nanoseconds.
uint64_t now_ns() noexcept;

/// A lock for a few instructions. Holders on the path of a fault make no system call and copy no data, so waiting is
/// mostly spinning; a holder that lost its core is waited for asleep. Every caller has its signals blocked: a handler
/// cannot meet its own lock.
class Lock {
 public:
  void lock() noexcept {
    uint32_t free = 0;
    if (!word_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) wait();
  }
  void unlock() noexcept {
    if (word_.exchange(0, std::memory_order_release) == 2) wake_all(&word_);
  }
  /// In a forked child: a thread that held it does not exist there.
  void forget() noexcept { word_.store(0); }

 private:
  void wait() noexcept;
  std::atomic<uint32_t> word_{0};
};

class Held {
 public:
  explicit Held(Lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~Held() { lock_.unlock(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Lock& lock_;
};

/// Every signal, for a mask. sigfillset leaves out those by which the C library cancels threads and changes user ids:
/// a cancellation in the middle of a fault would leave a granule that belongs to no one.
void fill_mask(sigset_t* mask) noexcept;

/// sigaction(2) without the C library, whose calls memory/calls may answer itself. 0 or -errno.
long set_action(int signal, const struct sigaction* action, struct sigaction* before) noexcept;

/// No signal reaches this thread while it lives. A function that takes a lock outside the SIGBUS handler has one: a
/// handler of the program could otherwise touch the arena in between and wait for this very thread.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t before_ = 0;
};

/// Zeroed memory of the library itself, populated when it is touched; nullptr if the kernel refuses.
void* map_table(size_t bytes) noexcept;
void unmap_table(void* at, size_t bytes) noexcept;
/// The same for what a device reads and writes (a multiple of 2 MiB), which a forked child does not inherit. In huge
/// pages if there are any: a disk gets one address for 512 KiB instead of 128, and is several times faster.
void* map_device_buffer(size_t bytes) noexcept;

/// For anonymous memory whose pages are moved: single pages, which a forked child does not inherit and the kernel does
/// not share (prctl(PR_SET_MEMORY_MERGE), MemoryKSM= of systemd): a shared page answers EBUSY for ever.
void keep_movable(void* at, uint64_t bytes) noexcept;

/// Divides anonymous memory into mappings of `stripe` bytes. UFFDIO_MOVE takes a lock that a mapping has for all of its
/// pages: with one mapping two threads that evict wait for each other. Neighbours differ in advice that means nothing
/// here, or the kernel would join them.
void divide(void* at, uint64_t bytes, uint64_t stripe) noexcept;

/// Ends the process by SIGABRT after one line on standard error: content would be lost, or the tables are wrong. The
/// program's handler of SIGABRT does not run.
[[noreturn]] void die(const char* what, long error) noexcept;

}  // namespace ringside::memory
