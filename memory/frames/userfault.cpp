// SPDX-License-Identifier: BSD-3-Clause
#include "memory/frames/userfault.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "memory/arena/geometry.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {
namespace {

struct Move {  // struct uffdio_move of Linux 6.8
  uint64_t to, from, bytes, mode;
  int64_t moved;
};
constexpr unsigned long kMove = _IOWR(UFFDIO, 0x05, Move);
constexpr uint64_t kFeatureMove = 1u << 16;
constexpr long kUserModeOnly = 1;                          // UFFD_USER_MODE_ONLY
constexpr unsigned long kNewDescriptor = _IO(0xAA, 0x00);  // USERFAULTFD_IOC_NEW of /dev/userfaultfd

uint64_t address(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

long control(int descriptor, unsigned long request, void* argument) {
  return raw(SYS_ioctl, descriptor, static_cast<long>(request), as_long(argument));
}

long new_descriptor(bool user_mode_only) {
  const long flags = O_CLOEXEC | (user_mode_only ? kUserModeOnly : 0);
  long got = raw(SYS_userfaultfd, flags);
  if (got != -EPERM) return got;
  const long device = raw(SYS_openat, AT_FDCWD, as_long("/dev/userfaultfd"), O_RDWR | O_CLOEXEC);
  if (device < 0) return -EPERM;
  got = raw(SYS_ioctl, device, static_cast<long>(kNewDescriptor), flags);
  raw(SYS_close, device);
  return got;
}

// process_madvise(2) with MADV_DONTNEED is for the process itself only, since Linux 6.13. One call without any page
// finds out.
int descriptor_for_drops() {
  const long process = raw(SYS_pidfd_open, raw(SYS_getpid), 0);
  if (process < 0) return -1;
  char* const page = static_cast<char*>(map_table(kPage));
  const iovec range{page, kPage};
  const bool works = page != nullptr && raw(SYS_process_madvise, process, as_long(&range), 1, MADV_DONTNEED, 0) ==
                                            static_cast<long>(kPage);
  unmap_table(page, kPage);
  if (works) return static_cast<int>(process);
  raw(SYS_close, process);
  return -1;
}

}  // namespace

long UserFault::open(bool signals, bool copy_only, const char** why) noexcept {
  const long result = open_descriptor(signals, copy_only, why);
  if (result == 0) self = descriptor_for_drops();
  return result;
}

long UserFault::open_descriptor(bool signals, bool copy_only, const char** why) noexcept {
  kernel_faults = !signals;
  long got = new_descriptor(false);
  if (got == -EPERM) {
    kernel_faults = false;
    got = new_descriptor(true);
  }
  if (got < 0) {
    *why = got == -ENOSYS ? "this kernel has no userfaultfd (CONFIG_USERFAULTFD)"
                          : "userfaultfd is not permitted: run as root, give access to /dev/userfaultfd, or set "
                            "vm.unprivileged_userfaultfd=1";
    return got;
  }
  descriptor = static_cast<int>(out_of_the_way(got));
  uffdio_api api{};
  const uint64_t wanted = UFFD_FEATURE_PAGEFAULT_FLAG_WP | (signals ? uint64_t{UFFD_FEATURE_SIGBUS} : 0);
  if (!copy_only) {
    api.api = UFFD_API;
    api.features = wanted | kFeatureMove;
    got = control(descriptor, UFFDIO_API, &api);
    moves = got == 0;
    if (moves) return 0;
    // An unknown feature is refused; the same descriptor then accepts another try.
  }
  api = {};
  api.api = UFFD_API;
  api.features = wanted;
  got = control(descriptor, UFFDIO_API, &api);
  if (got < 0) {
    *why = "this kernel's userfaultfd has no SIGBUS or no write-protection: Linux 5.7 or later has both";
    close();
  }
  return got;
}

void UserFault::close() noexcept {
  if (descriptor >= 0) raw(SYS_close, descriptor);
  if (self >= 0) raw(SYS_close, self);
  descriptor = self = -1;
  moves = false;
}

long UserFault::watch(void* at, size_t bytes) const noexcept {
  uffdio_register range{};
  range.range = {address(at), bytes};
  range.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP;
  return control(descriptor, UFFDIO_REGISTER, &range);
}

void UserFault::copy_in(char* to, const char* from, size_t bytes, bool protect) const noexcept {
  for (size_t done = 0; done < bytes;) {
    uffdio_copy order{};
    order.dst = address(to + done);
    order.src = address(from + done);
    order.len = bytes - done;
    order.mode = protect ? UFFDIO_COPY_MODE_WP : 0;
    const long result = control(descriptor, UFFDIO_COPY, &order);
    if (result == 0) return;
    if (order.copy > 0) {
      done += static_cast<size_t>(order.copy);
    } else if (result == -ENOMEM) {
      yield_core();  // the kernel reclaims; the limit leaves no more to give up
    } else if (result != -EAGAIN) {
      die("cannot put a page in (UFFDIO_COPY)", result);
    }
  }
}

size_t UserFault::move(char* to, char* from, size_t bytes) const noexcept {
  int refused = 0;
  size_t most = bytes;
  for (size_t done = 0; done < bytes;) {
    const size_t part = bytes - done < most ? bytes - done : most;
    Move order{address(to + done), address(from + done), part, 0, 0};
    const long result = control(descriptor, kMove, &order);
    if (result == 0) {
      done += part;
    } else if (order.moved > 0) {
      done += static_cast<size_t>(order.moved);
    } else if (result == -EINVAL && most > kPage) {
      most = kPage;  // the range lies in two mappings (divide)
    } else if (result == -EBUSY || result == -EAGAIN) {
      // EBUSY may also be a reference that lives for an instant only: a few more tries before another victim is taken.
      if (++refused == 8) return done;
      if (refused > 2) yield_core();
    } else {
      die("cannot move a page (UFFDIO_MOVE)", result);
    }
  }
  return bytes;
}

void UserFault::protect(char* at, size_t bytes, bool on) const noexcept {
  uffdio_writeprotect order{};
  order.range = {address(at), bytes};
  order.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
  long result = 0;
  while ((result = control(descriptor, UFFDIO_WRITEPROTECT, &order)) == -EAGAIN) yield_core();
  if (result != 0) die("cannot write-protect (UFFDIO_WRITEPROTECT)", result);
}

void UserFault::drop(const iovec* ranges, uint32_t count) const noexcept {
  uint32_t done = 0;
  if (self >= 0 && count > 1) {
    const long dropped = raw(SYS_process_madvise, self, as_long(ranges), count, MADV_DONTNEED, 0);
    // What it left out, if anything, follows one by one. To drop a range again would be wrong only after its word says
    // absent, which comes later.
    for (auto left = dropped > 0 ? static_cast<size_t>(dropped) : 0; done < count && left >= ranges[done].iov_len;)
      left -= ranges[done++].iov_len;
  }
  for (; done < count; ++done) {
    const long result = raw(SYS_madvise, as_long(ranges[done].iov_base), static_cast<long>(ranges[done].iov_len),
                            MADV_DONTNEED);
    if (result != 0) die("cannot give pages back (madvise)", result);
  }
}

void UserFault::wake(char* at, size_t bytes) const noexcept {
  uffdio_range range{address(at), bytes};
  control(descriptor, UFFDIO_WAKE, &range);
}

}  // namespace ringside::memory
