// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/huge_pages.hpp"

#include <sys/mman.h>

#include <cstdint>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // Linux 6.1
#endif

namespace ringside {
namespace {

/// A multiple of kHugePageBytes with `bytes` free addresses behind it; null if there is none. The addresses are not
/// reserved: as a hint to mmap, they cannot replace a mapping that another thread makes there meanwhile.
void* free_huge_page(std::size_t bytes) noexcept {
  const std::size_t room = bytes + kHugePageBytes;
  void* const free = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (free == MAP_FAILED) return nullptr;
  munmap(free, room);
  const auto address = reinterpret_cast<std::uintptr_t>(free);
  return static_cast<char*>(free) + (kHugePageBytes - address % kHugePageBytes) % kHugePageBytes;
}

}  // namespace

void* map_at_huge_page(std::size_t bytes, int protection, int flags, int fd) noexcept {
  void* const address = bytes < kHugePageBytes ? nullptr : free_huge_page(bytes);
  return mmap(address, bytes, protection, flags, fd, 0);
}

void advise_huge_pages(void* memory, std::size_t bytes) noexcept {
  if (bytes >= kHugePageBytes) madvise(memory, bytes, MADV_HUGEPAGE);
}

void collapse_to_huge_pages(void* memory, std::size_t bytes) noexcept {
  if (bytes >= kHugePageBytes) madvise(memory, bytes, MADV_COLLAPSE);
}

}  // namespace ringside
