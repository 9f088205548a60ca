// SPDX-License-Identifier: BSD-3-Clause
#include "producer/matrix/array.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "common/platform/error.hpp"
#include "common/platform/huge_pages.hpp"
#include "producer/memory/matrix_memory.hpp"

namespace ringside {

std::shared_ptr<void> allocate_pages(std::size_t bytes, Holds holds) {
  if (bytes == 0) return nullptr;
  if (holds == Holds::kMatrix && matrix_is_far()) return allocate_far(bytes);
  void* pages = map_at_huge_page(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  if (pages == MAP_FAILED) {
    throw system_error("cannot allocate {} bytes of memory ({}); free some, or use a smaller matrix", bytes,
                       errno_text(errno));
  }
  advise_huge_pages(pages, bytes);
  return {pages, [bytes](void* p) { munmap(p, bytes); }};
}

}  // namespace ringside
