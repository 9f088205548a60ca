// SPDX-License-Identifier: BSD-3-Clause
// The declaration of a function that replaces a function of the C library, and the conversion of its result.
#pragma once

#include <errno.h>

#define RINGSIDE_MEMORY_INTERPOSED extern "C" __attribute__((visibility("default"), used, noinline))

namespace ringside::memory {

/// The kernel's result as the C library returns it: -1 with errno for -errno.
inline int result_of(long result) noexcept {
  if (result >= 0) return static_cast<int>(result);
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace ringside::memory
