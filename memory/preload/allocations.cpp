// SPDX-License-Identifier: BSD-3-Clause
// The malloc family of functions (which C++ new and delete of libstdc++ call). Requests of at least the minimum size go
// to the arena, others to the next malloc.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <new>

#include "memory/arena/granule_table.hpp"
#include "memory/core.hpp"
#include "memory/preload/account.hpp"
#include "memory/preload/gate.hpp"
#include "memory/preload/interface.hpp"
#include "memory/preload/marked_pages.hpp"
#include "memory/preload/next.hpp"
#include "memory/preload/process.hpp"
#include "memory/ringside_memory.h"

namespace ringside::memory {

constinit Gate gate;

namespace {

// --- the pages at which blocks of this library's malloc begin, with one bit for each page. Another malloc may also map
// its memory in the arena, and must free its own blocks itself. So an address in the arena does not show which malloc
// must free a block.

using BitWord = std::atomic<uint64_t>;
constinit Lock bits_lock;
constinit std::atomic<BitWord*> bits{nullptr};

uint64_t mask_of(uint32_t page) {
  return uint64_t{1} << (page % 64);
}

BitWord* made_bits() {
  const Held held(bits_lock);
  BitWord* made = bits.load();
  if (made == nullptr) {
    made = static_cast<BitWord*>(map_table(((table.bytes() >> kPageShift) + 63) / 64 * sizeof(BitWord)));
    bits.store(made);
  }
  return made;
}

// The caller must be inside the gate. Returns false if there is no memory for the bits.
bool add_large_block(const void* memory) {
  BitWord* words = bits.load();
  if (words == nullptr) words = made_bits();
  if (words == nullptr) return false;
  const uint32_t page = table.page_of(memory);
  words[page / 64].fetch_or(mask_of(page));
  return true;
}

void remove_large_block(const void* memory) {
  BitWord* const words = bits.load();
  const uint32_t page = table.page_of(memory);
  if (words != nullptr) words[page / 64].fetch_and(~mask_of(page));
}

bool is_large_block(const void* memory) {
  if (!table.owns(memory) || (reinterpret_cast<uintptr_t>(memory) & (kPage - 1)) != 0) return false;
  const BitWord* const words = bits.load();
  const uint32_t page = table.page_of(memory);
  return words != nullptr && (words[page / 64].load() & mask_of(page)) != 0;
}

// --- common parts of the functions

bool is_large(size_t bytes) {
  return bytes >= settings.min_size && (core.ready() || starts_now());
}

// As for malloc, every failure gives NULL with ENOMEM, whatever the reason; a success keeps errno.
void* large(size_t alignment, size_t bytes) {
  const int kept = errno;
  void* memory = nullptr;
  if (bytes <= PTRDIFF_MAX) {
    const ThroughGate through;
    memory = alignment <= 4096 ? ringside_memory_alloc(bytes) : ringside_memory_aligned(alignment, bytes);
    if (memory != nullptr && !add_large_block(memory)) {
      ringside_memory_free(memory);
      memory = nullptr;
    }
  }
  if (memory == nullptr) {
    account.count_refused();
    errno = ENOMEM;
    return nullptr;
  }
  account.count_large();
  errno = kept;
  return memory;
}

size_t usable_in_arena(const void* memory) {
  const ThroughGate through;
  return ringside_memory_usable(memory);
}

void free_large(void* memory) {
  if (!core.ready()) return;  // in a forked child without an arena, no block belongs to it
  const int kept = errno;
  const auto pages = static_cast<uint32_t>(usable_in_arena(memory) >> kPageShift);
  unlock_pages(table.page_of(memory), pages);
  keep_on_fork(table.page_of(memory), pages);
  {
    const ThroughGate through;
    const Region region = region_of(memory);
    remove_large_block(memory);  // must be done before another allocation can reuse the address
    if (region && table.address(region.page) == memory) release_pages(region, region.page, region.pages);
  }
  errno = kept;
}

void* counted(void* memory) {
  if (memory != nullptr) Account::count_small(next()->malloc_usable_size(memory));
  return memory;
}

// Moves a block from the next malloc to the arena, or from the arena to the next malloc.
void* moved(void* memory, size_t had, size_t bytes) {
  void* const other = malloc(bytes);
  if (other == nullptr) return nullptr;
  memcpy(other, memory, had < bytes ? had : bytes);
  free(memory);
  return other;
}

// Resizes a block of the arena: in place if the addresses after it are free.
void* resized(void* memory, size_t bytes) {
  const int kept = errno;
  {
    const ThroughGate through;
    const Region region = region_of(memory);
    bool is_full = false;
    if (region && resize_in_place(region, bytes, &is_full)) {
      errno = kept;
      return memory;
    }
  }
  return moved(memory, usable_in_arena(memory), bytes);
}

bool is_power_of_two(size_t number) {
  return number != 0 && (number & (number - 1)) == 0;
}

}  // namespace
}  // namespace ringside::memory

using namespace ringside::memory;

RINGSIDE_MEMORY_INTERPOSED void* malloc(size_t bytes) {
  if (is_large(bytes)) return large(1, bytes);
  const Next* const real = next();
  return real == nullptr ? early_alloc(1, bytes) : counted(real->malloc(bytes));
}

RINGSIDE_MEMORY_INTERPOSED void* calloc(size_t count, size_t bytes) {
  size_t product = 0;
  if (!__builtin_mul_overflow(count, bytes, &product) && is_large(product)) return large(1, product);
  const Next* const real = next();
  return real == nullptr ? early_alloc(1, product) : counted(real->calloc(count, bytes));
}

RINGSIDE_MEMORY_INTERPOSED void free(void* memory) {
  if (memory == nullptr || is_early(memory)) return;
  if (is_large_block(memory)) return free_large(memory);
  const Next& real = *next();
  Account::count_small_freed(real.malloc_usable_size(memory));
  real.free(memory);
}

RINGSIDE_MEMORY_INTERPOSED void* realloc(void* memory, size_t bytes) {
  if (memory == nullptr) return malloc(bytes);
  if (is_early(memory)) return moved(memory, early_bytes(memory), bytes);
  if (is_large_block(memory)) {
    if (bytes == 0) {  // as glibc does
      free(memory);
      return nullptr;
    }
    if (!core.ready()) (void)*static_cast<const volatile char*>(memory);  // ends a forked child that has no arena
    return is_large(bytes) ? resized(memory, bytes) : moved(memory, usable_in_arena(memory), bytes);
  }
  const Next& real = *next();
  const size_t had = real.malloc_usable_size(memory);
  if (is_large(bytes)) return moved(memory, had, bytes);
  void* const result = real.realloc(memory, bytes);
  if (result != nullptr) {
    Account::count_small_change(had, real.malloc_usable_size(result));
  } else if (bytes == 0) {
    Account::count_small_freed(had);
  }
  return result;
}

RINGSIDE_MEMORY_INTERPOSED void* reallocarray(void* memory, size_t count, size_t bytes) {
  size_t product = 0;
  if (__builtin_mul_overflow(count, bytes, &product)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(memory, product);
}

RINGSIDE_MEMORY_INTERPOSED void* memalign(size_t alignment, size_t bytes) {
  if (is_large(bytes)) {
    size_t power = 1;  // as glibc does: the next power of two
    while (power < alignment && power <= kMostAlignment) power *= 2;
    return large(power, bytes);
  }
  const Next* const real = next();
  return real == nullptr ? early_alloc(alignment, bytes) : counted(real->memalign(alignment, bytes));
}

RINGSIDE_MEMORY_INTERPOSED void* aligned_alloc(size_t alignment, size_t bytes) {
  if (is_large(bytes) && is_power_of_two(alignment)) return large(alignment, bytes);
  const Next* const real = next();
  return real == nullptr ? early_alloc(alignment, bytes) : counted(real->aligned_alloc(alignment, bytes));
}

RINGSIDE_MEMORY_INTERPOSED int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int kept = errno;
  void* const got = is_large(bytes) ? large(alignment, bytes) : memalign(alignment, bytes);
  errno = kept;
  if (got == nullptr) return ENOMEM;
  *memory = got;
  return 0;
}

RINGSIDE_MEMORY_INTERPOSED void* valloc(size_t bytes) {
  return memalign(4096, bytes);
}

RINGSIDE_MEMORY_INTERPOSED void* pvalloc(size_t bytes) {
  if (bytes > SIZE_MAX - 4095) {
    errno = ENOMEM;
    return nullptr;
  }
  return memalign(4096, bytes == 0 ? 4096 : (bytes + 4095) & ~size_t{4095});
}

RINGSIDE_MEMORY_INTERPOSED size_t malloc_usable_size(void* memory) {
  if (memory == nullptr) return 0;
  if (is_early(memory)) return early_bytes(memory);
  return is_large_block(memory) ? usable_in_arena(memory) : next()->malloc_usable_size(memory);
}
