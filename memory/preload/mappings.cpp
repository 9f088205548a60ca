// SPDX-License-Identifier: BSD-3-Clause
// The program's anonymous private mappings. Large mappings with read and write access are regions of the arena. All
// others go to the kernel unchanged: files, shared memory, fixed addresses, reservations (PROT_NONE, and NORESERVE
// without the user's option, because jemalloc maps all its memory in this way), stacks, huge pages. The range of a
// later call may cover both kinds; each part is then handled separately.
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/arena/granule_table.hpp"
#include "memory/core.hpp"
#include "memory/preload/account.hpp"
#include "memory/preload/gate.hpp"
#include "memory/preload/interface.hpp"
#include "memory/preload/marked_pages.hpp"
#include "memory/preload/process.hpp"
#include "memory/ringside_memory.h"

using namespace ringside::memory;

namespace {

constexpr int kOnlyFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_NONBLOCK;

void* address_of(long result) {
  if (result < 0 && result > -4096) {
    errno = static_cast<int>(-result);
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(static_cast<uintptr_t>(result));
}

uint64_t whole_pages(size_t bytes) {
  return (uint64_t{bytes} + kPage - 1) & ~(kPage - 1);
}

bool starts_page(const void* address) {
  return (reinterpret_cast<uintptr_t>(address) & (kPage - 1)) == 0;
}

/// Finds the part of [address, address + bytes) that is in the arena, as pages. Returns false if no part is.
bool part_in_arena(const void* address, uint64_t bytes, uint32_t* page, uint32_t* pages) {
  if (!core.ready() || bytes == 0) return false;
  const uint64_t base = reinterpret_cast<uintptr_t>(table.address(0)), end = base + table.bytes();
  const uint64_t from = reinterpret_cast<uintptr_t>(address), to = from + bytes;
  if (to < from || to <= base || from >= end) return false;
  const uint64_t first = from > base ? from : base, last = to < end ? to : end;
  *page = static_cast<uint32_t>((first - base) >> kPageShift);
  *pages = static_cast<uint32_t>((last - first) >> kPageShift);
  return *pages > 0;
}

/// Makes a call on whole pages: first `inside` (page, pages) for the part in the arena, then `kernel` (from, length)
/// for the parts outside. Both return 0 or -errno; after a failure there are no further calls.
template <class Kernel, class Inside>
long on_both_sides(const void* address, size_t bytes, Kernel kernel, Inside inside) {
  uint32_t page = 0, pages = 0;
  const uint64_t whole = whole_pages(bytes);
  if (!starts_page(address) || !part_in_arena(address, whole, &page, &pages))
    return kernel(as_long(address), static_cast<long>(bytes));
  const uint64_t base = reinterpret_cast<uintptr_t>(table.address(0)), end = base + table.bytes();
  const uint64_t from = reinterpret_cast<uintptr_t>(address), to = from + whole;
  long result = inside(page, pages);
  if (result == 0 && from < base) result = kernel(static_cast<long>(from), static_cast<long>(base - from));
  if (result == 0 && to > end) result = kernel(static_cast<long>(end), static_cast<long>(to - end));
  return result;
}

void release_range(uint32_t page, uint32_t pages) {
  unlock_pages(page, pages);
  keep_on_fork(page, pages);
  const ThroughGate through;
  for (uint32_t at = page; at < page + pages;) {
    const Region region = region_of(table.address(at));
    if (!region) {
      ++at;
      continue;
    }
    const uint32_t end = region.page + region.pages < page + pages ? region.page + region.pages : page + pages;
    release_pages(region, at, end - at);
    at = end;
  }
}

/// Whether the range has no holes: each page was allocated and not yet released.
bool all_allocated(uint32_t page, uint32_t pages) {
  for (uint32_t at = page; at < page + pages; ++at) {
    if (!is_allocated(at)) return false;
  }
  return true;
}

/// Copies a range of the arena to the kernel's memory, at any or at a fixed address.
void* move_out(void* from, uint64_t had, uint64_t wants, void* fixed) {
  const long flags = MAP_PRIVATE | MAP_ANONYMOUS | (fixed == nullptr ? 0 : MAP_FIXED);
  void* const to = address_of(
      raw(SYS_mmap, as_long(fixed), static_cast<long>(wants), PROT_READ | PROT_WRITE, flags, -1, 0));
  if (to == MAP_FAILED) return to;
  memcpy(to, from, had < wants ? had : wants);
  return to;
}

void* remap_in_arena(void* address, uint32_t page, uint64_t had, uint64_t wants, int flags, void* fixed) {
  if (!starts_page(address) || wants == 0 || (flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED)) != 0)
    return address_of(-EINVAL);
  const auto pages = static_cast<uint32_t>(had >> kPageShift);
  if (had == 0 || had > table.bytes() || !all_allocated(page, pages)) return address_of(-EFAULT);
  if ((flags & MREMAP_FIXED) == 0) {
    const auto left = static_cast<uint32_t>(wants >> kPageShift);
    if (wants <= had) {
      if (left < pages) release_range(page + left, pages - left);
      return address;
    }
    const ThroughGate through;
    const Region region = region_of(address);
    bool is_full = false;
    if (region.page == page && region.pages == pages && resize_in_place(region, wants, &is_full)) return address;
  }
  if ((flags & MREMAP_MAYMOVE) == 0) return address_of((flags & MREMAP_FIXED) != 0 ? -EINVAL : -ENOMEM);
  uint32_t other = 0, others = 0;
  if ((flags & MREMAP_FIXED) != 0 && (!starts_page(fixed) || part_in_arena(fixed, wants, &other, &others)))
    return address_of(-EINVAL);
  void* to = nullptr;
  if ((flags & MREMAP_FIXED) != 0) {
    to = move_out(address, had, wants, fixed);
  } else {
    to = mmap(nullptr, wants, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (to != MAP_FAILED) memcpy(to, address, had);
  }
  if (to != MAP_FAILED) release_range(page, pages);
  return to;
}

int advise_in_arena(uint32_t page, uint32_t pages, int advice) {
  void* const at = table.address(page);
  const size_t bytes = static_cast<size_t>(pages) << kPageShift;
  const auto pass = [&](int ours) {  // this is only advice, which may have no effect
    const int kept = errno;
    const ThroughGate through;
    const Region region = region_of(at);
    const uint64_t left = region ? static_cast<uint64_t>(region.page + region.pages - page) << kPageShift : 0;
    ringside_memory_advise(at, bytes < left ? bytes : left, ours);
    errno = kept;
    return 0;
  };
  switch (advice) {
    case MADV_DONTNEED:
    case MADV_FREE: {
      if (are_locked(page, pages)) return -EINVAL;
      const ThroughGate through;
      clear_pages(page, pages);
      return 0;
    }
    case MADV_NORMAL: return pass(RINGSIDE_MEMORY_NORMAL);
    case MADV_RANDOM: return pass(RINGSIDE_MEMORY_RANDOM);
    case MADV_SEQUENTIAL: return pass(RINGSIDE_MEMORY_SEQUENTIAL);
    case MADV_COLD:
    case MADV_PAGEOUT: return pass(RINGSIDE_MEMORY_DONT_NEED);
    case MADV_WIPEONFORK: return wipe_on_fork(page, pages) ? 0 : -EAGAIN;
    case MADV_KEEPONFORK: keep_on_fork(page, pages); return 0;
    default: return is_only_advice(advice) ? 0 : -EINVAL;  // read-ahead and huge pages are left to the library
  }
}

}  // namespace

RINGSIDE_MEMORY_INTERPOSED void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  uint32_t page = 0, pages = 0;
  const bool unreserved = (flags & MAP_NORESERVE) != 0;
  const int permitted = settings.noreserve ? kOnlyFlags | MAP_NORESERVE : kOnlyFlags;
  if (bytes >= settings.min_size && (core.ready() || starts_now()) && protection == (PROT_READ | PROT_WRITE) &&
      (flags & ~permitted) == 0 && (flags & MAP_ANONYMOUS) != 0 && (flags & MAP_PRIVATE) != 0) {
    const int kept = errno;
    void* const memory = [&] {
      const ThroughGate through;
      return bytes <= PTRDIFF_MAX ? ringside_memory_alloc(whole_pages(bytes)) : nullptr;
    }();
    errno = kept;
    if (memory != nullptr) {
      account.count_large();
      return memory;
    }
    account.count_refused();
    // An unreserved mapping may be larger than far memory and hardly used. In this case the kernel maps it.
    if (!unreserved) return address_of(-ENOMEM);
  }
  if ((flags & MAP_FIXED) != 0 && part_in_arena(address, whole_pages(bytes), &page, &pages)) {
    // In a part of a region, a fixed mapping can only replace the content by zeros.
    const bool same = static_cast<uint64_t>(pages) << kPageShift == whole_pages(bytes) && starts_page(address) &&
                      (flags & MAP_ANONYMOUS) != 0 && (flags & MAP_SHARED) == 0 &&
                      protection == (PROT_READ | PROT_WRITE) && all_allocated(page, pages);
    if (!same) return address_of(-ENOMEM);
    const ThroughGate through;
    clear_pages(page, pages);
    return address;
  }
  return address_of(raw(SYS_mmap, as_long(address), static_cast<long>(bytes), protection, flags, file, offset));
}

RINGSIDE_MEMORY_INTERPOSED void* mmap64(void* address, size_t bytes, int protection, int flags, int file,
                                        off64_t offset) {
  return mmap(address, bytes, protection, flags, file, offset);
}

RINGSIDE_MEMORY_INTERPOSED int munmap(void* address, size_t bytes) {
  return result_of(on_both_sides(
      address, bytes, [](long from, long length) { return raw(SYS_munmap, from, length); },
      [](uint32_t page, uint32_t pages) {
        release_range(page, pages);
        return 0L;
      }));
}

RINGSIDE_MEMORY_INTERPOSED void* mremap(void* address, size_t had, size_t wants, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  void* const fixed = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  if (core.ready() && table.owns(address))
    return remap_in_arena(address, table.page_of(address), whole_pages(had), whole_pages(wants), flags, fixed);
  return address_of(raw(SYS_mremap, as_long(address), static_cast<long>(had), static_cast<long>(wants), flags,
                        as_long(fixed)));
}

RINGSIDE_MEMORY_INTERPOSED int madvise(void* address, size_t bytes, int advice) {
  bool has_holes = false;
  const long result = on_both_sides(
      address, bytes, [=](long from, long length) { return raw(SYS_madvise, from, length, advice); },
      [&](uint32_t page, uint32_t pages) {
        has_holes = !all_allocated(page, pages);
        return static_cast<long>(advise_in_arena(page, pages, advice));
      });
  return result_of(result == 0 && has_holes ? -ENOMEM : result);  // as the kernel does: it advises the other pages
}

RINGSIDE_MEMORY_INTERPOSED int posix_madvise(void* address, size_t bytes, int advice) {
  if (advice == POSIX_MADV_DONTNEED) return 0;  // unlike MADV_DONTNEED, this call may not lose data
  const int kept = errno;
  const int result = madvise(address, bytes, advice) == 0 ? 0 : errno;
  errno = kept;
  return result;
}

// Pages that return to DRAM always have read and write access. So requests for less access, and for more access
// (execution), are refused.
RINGSIDE_MEMORY_INTERPOSED int mprotect(void* address, size_t bytes, int protection) {
  return result_of(on_both_sides(
      address, bytes, [=](long from, long length) { return raw(SYS_mprotect, from, length, protection); },
      [=](uint32_t page, uint32_t pages) -> long {
        if (!all_allocated(page, pages)) return -ENOMEM;
        return protection == (PROT_READ | PROT_WRITE) ? 0 : -EACCES;
      }));
}

// A lock is a pin within the limit. Locks are not counted: one call of munlock undoes any number of calls of mlock.
RINGSIDE_MEMORY_INTERPOSED int mlock(const void* address, size_t bytes) {
  const size_t inside_page = reinterpret_cast<uintptr_t>(address) & (kPage - 1);  // the kernel rounds in the same way
  return result_of(on_both_sides(
      static_cast<const char*>(address) - inside_page, bytes + inside_page,
      [](long from, long length) { return raw(SYS_mlock, from, length); },
      [](uint32_t page, uint32_t pages) -> long {
        return all_allocated(page, pages) && lock_pages(page, pages) ? 0 : -ENOMEM;
      }));
}

RINGSIDE_MEMORY_INTERPOSED int mlock2(const void* address, size_t bytes, unsigned flags) {
  uint32_t page = 0, pages = 0;
  if (part_in_arena(address, whole_pages(bytes), &page, &pages)) return mlock(address, bytes);
  return result_of(raw(SYS_mlock2, as_long(address), static_cast<long>(bytes), static_cast<long>(flags)));
}

RINGSIDE_MEMORY_INTERPOSED int munlock(const void* address, size_t bytes) {
  const size_t inside_page = reinterpret_cast<uintptr_t>(address) & (kPage - 1);
  return result_of(on_both_sides(
      static_cast<const char*>(address) - inside_page, bytes + inside_page,
      [](long from, long length) { return raw(SYS_munlock, from, length); },
      [](uint32_t page, uint32_t pages) {
        unlock_pages(page, pages);
        return 0L;
      }));
}

// mlockall is refused: it would lock all memory of the process, so the arena would exceed its DRAM limit.
RINGSIDE_MEMORY_INTERPOSED int mlockall(int flags) {
  return result_of(core.ready() ? -ENOMEM : raw(SYS_mlockall, flags));
}
