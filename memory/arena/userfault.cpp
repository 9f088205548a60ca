// SPDX-License-Identifier: BSD-3-Clause
#include "memory/arena/userfault.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <initializer_list>

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

long control(int descriptor, unsigned long request, void* argument) noexcept {
  return raw(SYS_ioctl, descriptor, static_cast<long>(request), as_long(argument));
}

long resident(const void* at, size_t bytes, unsigned char* of_each_page) noexcept {
  return raw(SYS_mincore, as_long(at), static_cast<long>(bytes), as_long(of_each_page));
}

long give_back(void* at, size_t bytes) noexcept {
  return raw(SYS_madvise, as_long(at), static_cast<long>(bytes), MADV_DONTNEED);
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

// Since Linux 6.13, a process may use process_madvise(2) with MADV_DONTNEED on itself. A call for a page that is not
// present tests whether this kernel permits that.
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

const KernelCalls kernel_calls = {control, resident, give_back};

long UserFault::open(bool signals, bool copy_only, const char** why) noexcept {
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
  // The kernel refuses an unknown feature; another try is then possible with the same descriptor.
  for (const uint64_t move : {copy_only ? 0 : kFeatureMove, uint64_t{0}}) {
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | (signals ? uint64_t{UFFD_FEATURE_SIGBUS} : 0) | move;
    got = control(descriptor, UFFDIO_API, &api);
    moves = got == 0 && move != 0;
    if (got == 0) {
      self = descriptor_for_drops();
      return 0;
    }
  }
  *why = "this kernel's userfaultfd has no SIGBUS or no write-protection: Linux 5.7 or later has both";
  close();
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
  return kernel->control(descriptor, UFFDIO_REGISTER, &range);
}

void UserFault::copy_in(char* to, const char* from, size_t bytes, bool protect) const noexcept {
  for (size_t done = 0; done < bytes;) {
    uffdio_copy order{};
    order.dst = address(to + done);
    order.src = address(from + done);
    order.len = bytes - done;
    order.mode = protect ? UFFDIO_COPY_MODE_WP : 0;
    const long result = kernel->control(descriptor, UFFDIO_COPY, &order);
    if (result == 0) return;
    if (order.copy > 0) {
      done += static_cast<size_t>(order.copy);
    } else if (result == -ENOMEM) {
      yield_core();  // waits until the kernel has reclaimed memory; the library can free none here
    } else if (result == -EFAULT) {
      die("cannot read far memory (UFFDIO_COPY)", result);  // its device failed, or the page has a memory error
    } else if (result != -EAGAIN) {
      die("cannot put a page into DRAM (UFFDIO_COPY)", result);
    }
  }
}

size_t UserFault::move(char* to, char* from, size_t bytes) const noexcept {
  int refused = 0;
  size_t most = bytes;
  for (size_t done = 0; done < bytes;) {
    const size_t part = bytes - done < most ? bytes - done : most;
    Move order{address(to + done), address(from + done), part, 0, 0};
    const long result = kernel->control(descriptor, kMove, &order);
    if (result == 0) {
      done += part;
    } else if (order.moved > 0) {
      done += static_cast<size_t>(order.moved);
    } else if (result == -EINVAL && most > kPage) {
      most = kPage;  // the range may be in two mappings (see divide)
    } else if (result == -EBUSY || result == -EAGAIN || result == -ENOMEM) {
      // A reference that the kernel holds only for a moment also causes EBUSY. So this loop tries a few times before
      // the caller takes another victim.
      if (++refused == 8) return done;
      if (refused > 2) yield_core();
    } else if (result == -EEXIST || result == -ENOENT) {
      const size_t uncounted = moved_uncounted(to + done, from + done, part, result == -EEXIST);
      if (uncounted == 0) die("cannot move a page (UFFDIO_MOVE)", result);
      done += uncounted;
    } else if (result == -EFAULT) {
      die("cannot move a page: it has a memory error (UFFDIO_MOVE)", result);
    } else {
      die("cannot move a page (UFFDIO_MOVE)", result);
    }
  }
  return bytes;
}

// Linux 6.18 (move_pages in mm/userfaultfd.c) can move a page without counting it. If the first try found a migrating
// page, the kernel returns EAGAIN although its next try moved that page and others. A third try returns EEXIST, or
// ENOENT if the emptied page table is gone. So a page that is absent at its source counts as moved only if it is
// present at its destination; otherwise the page may be swapped out. EEXIST proves that the first page was moved, even
// if it has been swapped out since.
size_t UserFault::moved_uncounted(const char* to, const char* from, size_t bytes, bool first_is_there) const noexcept {
  constexpr size_t kAtOnce = 64;
  unsigned char at_source[kAtOnce], at_destination[kAtOnce];
  const size_t pages = bytes / kPage < kAtOnce ? bytes / kPage : kAtOnce;
  if (kernel->resident(from, pages * kPage, at_source) != 0 ||
      kernel->resident(to, pages * kPage, at_destination) != 0) {
    return 0;
  }
  size_t moved = 0;
  for (; moved < pages && (at_source[moved] & 1) == 0; ++moved) {
    if ((at_destination[moved] & 1) == 0 && !(moved == 0 && first_is_there)) break;
  }
  return moved * kPage;
}

void UserFault::move_all(char* to, char* from, size_t bytes) const noexcept {
  // Migration holds a page for a moment, but KSM holds a shared page indefinitely. No store can reach the page at its
  // source, so the page can be copied safely.
  constexpr int kPatience = 64;
  int waited = 0;
  for (size_t done = 0; done < bytes;) {
    const size_t moved = move(to + done, from + done, bytes - done);
    done += moved;
    if (done == bytes) return;
    waited = moved > 0 ? 0 : waited + 1;
    if (waited < kPatience) {
      yield_core();
      continue;
    }
    copy_in(to + done, from + done, kPage, false);
    drop_range(from + done, kPage, *kernel);
    done += kPage;
    waited = 0;
  }
}

void UserFault::protect(char* at, size_t bytes, bool on) const noexcept {
  uffdio_writeprotect order{};
  order.range = {address(at), bytes};
  order.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
  long result = 0;
  do {
    result = kernel->control(descriptor, UFFDIO_WRITEPROTECT, &order);
    if (result != 0) yield_core();
  } while (result == -EAGAIN || result == -ENOMEM);
  if (result != 0) die("cannot write-protect (UFFDIO_WRITEPROTECT)", result);
}

void UserFault::drop(const iovec* ranges, uint32_t count) const noexcept {
  uint32_t done = 0;
  if (self >= 0 && count > 1) {
    const long dropped = raw(SYS_process_madvise, self, as_long(ranges), count, MADV_DONTNEED, 0);
    // Drops the remaining ranges one by one. A range may be dropped twice without harm, because its word becomes absent
    // only later.
    for (auto left = dropped > 0 ? static_cast<size_t>(dropped) : 0; done < count && left >= ranges[done].iov_len;)
      left -= ranges[done++].iov_len;
  }
  for (; done < count; ++done) drop_range(ranges[done].iov_base, ranges[done].iov_len, *kernel);
}

// A page that remained would prevent that the next content is put at its address (EEXIST), or would be read instead of
// that content.
void drop_range(void* at, size_t bytes, const KernelCalls& kernel) noexcept {
  const long result = kernel.give_back(at, bytes);
  if (result != 0) die("cannot give pages back (madvise)", result);
}

void UserFault::wake(char* at, size_t bytes) const noexcept {
  uffdio_range range{address(at), bytes};
  kernel->control(descriptor, UFFDIO_WAKE, &range);
}

}  // namespace ringside::memory
