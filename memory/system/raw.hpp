// SPDX-License-Identifier: BSD-3-Clause
// System calls that keep errno, and functions that use them: a wait for a word, a lock, a section without signals. The
// code that handles a fault runs inside a signal handler of any program, and this program may have replaced malloc. So
// this code may use nothing else.
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

/// The least number of the library's descriptors, with which a preload library keeps them away from the program's
/// descriptors. 0: any number.
extern int least_descriptor;
/// Moves a new descriptor to a number of at least least_descriptor, and returns this number. Errors are returned
/// unchanged.
long out_of_the_way(long descriptor) noexcept;

/// The kernel's result: a value, or -errno. All calls of the library use one instruction, which the filter of
/// memory/calls permits.
#if defined(__x86_64__)
/// The code that makes the calls is from `first` to `end`; `site` is the address after the instruction.
struct RawCode {
  const char *first, *site, *end;
};
RawCode raw_code() noexcept;
/// From now on, all calls use the copy of that code at `first`.
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
/// Sleeps while `*word` equals `seen`, until wake_all. May return early.
void sleep_while(const void* word, uint32_t seen) noexcept;
void wake_all(const void* word) noexcept;
/// Monotonic nanoseconds.
uint64_t now_ns() noexcept;

/// A lock for a few instructions. During a fault, a holder makes no system call and copies no data, so waiters mostly
/// spin; if the holder was preempted, the waiter sleeps. Callers block their signals, so that a handler cannot wait for
/// a lock that its own thread holds.
class Lock {
 public:
  void lock() noexcept {
    uint32_t free = 0;
    if (!word_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) wait();
  }
  void unlock() noexcept {
    if (word_.exchange(0, std::memory_order_release) == 2) wake_all(&word_);
  }
  /// For a forked child: opens the lock, because the thread that held it does not exist in the child.
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

/// A mask with every signal. sigfillset omits the signals with which the C library cancels threads and changes user
/// ids. But a cancellation during a fault would leave a claimed granule that no thread releases.
void fill_mask(sigset_t* mask) noexcept;

/// sigaction(2) without the C library, whose calls memory/calls may intercept. Returns 0 or -errno.
long set_action(int signal, const struct sigaction* action, struct sigaction* before) noexcept;

/// Blocks all signals of this thread while the object exists. A function that takes a lock outside the SIGBUS handler
/// needs such an object: otherwise a handler of the program could touch the arena and wait for its own thread.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t before_ = 0;
};

/// Zeroed memory for the library itself, populated on first touch; nullptr if the kernel refuses.
void* map_table(size_t bytes) noexcept;
void unmap_table(void* at, size_t bytes) noexcept;
/// Does the same as map_table, for memory that a device reads and writes (a multiple of 2 MiB). A forked child does not
/// inherit this memory. Uses huge pages if they are available: a disk then gets one address for 512 KiB instead of 128
/// addresses, and is several times faster.
void* map_device_buffer(size_t bytes) noexcept;

/// Prepares anonymous memory whose pages move: it has single pages, is not inherited by a forked child, and is not
/// shared by the kernel (prctl(PR_SET_MEMORY_MERGE), MemoryKSM= of systemd), because a move of a shared page always
/// fails with EBUSY.
void keep_movable(void* at, uint64_t bytes) noexcept;

/// Divides anonymous memory into mappings of `stripe` bytes. UFFDIO_MOVE locks a whole mapping, so with one mapping,
/// two threads that evict would wait for each other. Neighbouring mappings get different advice, because the kernel
/// would otherwise join them; this advice has no other effect here.
void divide(void* at, uint64_t bytes, uint64_t stripe) noexcept;

/// Ends the process by SIGABRT after one line on standard error, because content would be lost or the tables are wrong.
/// The program's handler of SIGABRT does not run.
[[noreturn]] void die(const char* what, long error) noexcept;

}  // namespace ringside::memory
