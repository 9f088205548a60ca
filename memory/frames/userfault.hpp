// SPDX-License-Identifier: BSD-3-Clause
// The kernel's side of a fault: userfaultfd(2). Pages are copied in, moved in and out, and write-protected. Headers
// before Linux 6.8 lack UFFDIO_MOVE, so its numbers are here. Every call keeps errno.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

namespace ringside::memory {

struct UserFault {
  int descriptor = -1;
  bool moves = false;          // UFFDIO_MOVE is there and wanted
  bool kernel_faults = false;  // accesses by the kernel itself may be served (faults=thread)
  int self = -1;               // this process, where the kernel drops several ranges at once; else -1

  /// Opens it. `signals`: a fault is SIGBUS in its thread. 0 or -errno; `why` then says what to change.
  long open(bool signals, bool copy_only, const char** why) noexcept;
  void close() noexcept;
  /// Makes a range of anonymous memory ours: missing pages and stores to protected ones fault.
  long watch(void* at, size_t bytes) const noexcept;

  /// Fills the absent range at `to` with a copy of `from`, write-protected from the first instant if `protect`.
  void copy_in(char* to, const char* from, size_t bytes, bool protect) const noexcept;
  /// Moves present pages. Returns the bytes moved: fewer if the kernel holds a page for now (EBUSY).
  size_t move(char* to, char* from, size_t bytes) const noexcept;
  void protect(char* at, size_t bytes, bool on) const noexcept;
  /// Forgets the content of present pages and gives them back to the kernel. Linux 6.16 interrupts the other cores once
  /// for all ranges; before 6.13 each range is a call.
  void drop(const iovec* ranges, uint32_t count) const noexcept;
  /// Lets threads that sleep on the range try again (faults=thread).
  void wake(char* at, size_t bytes) const noexcept;

 private:
  long open_descriptor(bool signals, bool copy_only, const char** why) noexcept;
};

}  // namespace ringside::memory
