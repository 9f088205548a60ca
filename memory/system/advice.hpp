// SPDX-License-Identifier: BSD-3-Clause
// Advice of madvise(2) that leaves the program's memory unchanged. For the arena, it may have no effect.
#pragma once

#include <sys/mman.h>

namespace ringside::memory {

inline bool is_only_advice(int advice) noexcept {
  constexpr int kPopulateRead = 22, kPopulateWrite = 23, kCollapse = 25;  // Linux 5.14, 5.14, 6.1
  switch (advice) {
    case MADV_NORMAL:
    case MADV_RANDOM:
    case MADV_SEQUENTIAL:
    case MADV_WILLNEED:
    case MADV_COLD:
    case MADV_PAGEOUT:
    case kPopulateRead:
    case kPopulateWrite:
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
    case kCollapse:
    case MADV_MERGEABLE:
    case MADV_UNMERGEABLE:
    case MADV_DONTDUMP:
    case MADV_DODUMP:
    case MADV_DONTFORK:  // a child has a copy in any case, or none
    case MADV_DOFORK: return true;
    default: return false;
  }
}

}  // namespace ringside::memory
