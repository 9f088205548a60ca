// SPDX-License-Identifier: BSD-3-Clause
// The kernel's side of a fault: userfaultfd(2). With it, pages are copied in, moved in and out, and write-protected.
// Headers before Linux 6.8 lack UFFDIO_MOVE, so this file defines its numbers. Every call keeps errno. A call that
// fails for a temporary reason is repeated, or replaced by another call. An error because of which content could be
// lost ends the process (die).
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

namespace ringside::memory {

/// The kernel calls whose results decide the next action. Each returns the same as raw(). Tests replace these calls.
struct KernelCalls {
  long (*control)(int descriptor, unsigned long request, void* argument) noexcept;      // ioctl(2)
  long (*resident)(const void* at, size_t bytes, unsigned char* of_each_page) noexcept;  // mincore(2)
  long (*give_back)(void* at, size_t bytes) noexcept;                                    // madvise(2), MADV_DONTNEED
};
extern const KernelCalls kernel_calls;

struct UserFault {
  const KernelCalls* kernel = &kernel_calls;
  int descriptor = -1;
  bool moves = false;          // UFFDIO_MOVE exists and is wanted
  bool kernel_faults = false;  // accesses by the kernel itself may be served (faults=thread)
  int self = -1;               // a pidfd of this process, if the kernel can drop several ranges at once; else -1

  /// Opens userfaultfd. `signals`: whether a fault raises SIGBUS in its thread. Returns 0, or -errno; `why` then says
  /// what to change.
  long open(bool signals, bool copy_only, const char** why) noexcept;
  void close() noexcept;
  /// Registers a range of anonymous memory: accesses to missing pages and stores to protected pages then fault.
  long watch(void* at, size_t bytes) const noexcept;

  /// Fills the absent range at `to` with a copy of `from`. With `protect`, the pages are write-protected from the
  /// beginning.
  void copy_in(char* to, const char* from, size_t bytes, bool protect) const noexcept;
  /// Moves present pages. Returns the bytes moved: fewer if the kernel holds a page temporarily (EBUSY).
  size_t move(char* to, char* from, size_t bytes) const noexcept;
  /// Moves all pages. If the kernel holds a page for a long time, copies the page and drops its source.
  void move_all(char* to, char* from, size_t bytes) const noexcept;
  void protect(char* at, size_t bytes, bool on) const noexcept;
  /// Discards the content of present pages and returns them to the kernel. Linux 6.16 interrupts the other cores once
  /// for all ranges; before Linux 6.13, each range needs a call.
  void drop(const iovec* ranges, uint32_t count) const noexcept;
  /// Wakes the threads that sleep on the range; they repeat the access (faults=thread).
  void wake(char* at, size_t bytes) const noexcept;

 private:
  size_t moved_uncounted(const char* to, const char* from, size_t bytes, bool first_is_there) const noexcept;
};

/// Returns the pages of a range to the kernel; the pages are then absent.
void drop_range(void* at, size_t bytes, const KernelCalls& kernel = kernel_calls) noexcept;

}  // namespace ringside::memory
