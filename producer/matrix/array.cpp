// SPDX-License-Identifier: BSD-3-Clause
#include "producer/matrix/array.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "common/platform/error.hpp"
#include "producer/memory/matrix_memory.hpp"

namespace ringside {

std::shared_ptr<void> allocate_pages(std::size_t bytes, Holds holds) {
  if (bytes == 0) return nullptr;
  if (holds == Holds::kMatrix && matrix_is_far()) return allocate_far(bytes);
  // 2 MiB: for less than one huge page, the advice would only waste memory.
  constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    throw system_error("cannot allocate {} bytes of memory ({}); free some, or use a smaller matrix", bytes,
                       errno_text(errno));
  }
  if (bytes >= kHugePageBytes) madvise(pages, bytes, MADV_HUGEPAGE);
  return {pages, [bytes](void* p) { munmap(p, bytes); }};
}

}  // namespace ringside
