// SPDX-License-Identifier: BSD-3-Clause
#include "memory/preload/next.hpp"

#include <dlfcn.h>
#include <stdint.h>

#include <atomic>

#include "memory/system/raw.hpp"

namespace ringside::memory {
namespace {

constexpr size_t kEarlyBytes = size_t{1} << 16;  // dlsym takes at most a few hundred bytes
alignas(4096) constinit char early[kEarlyBytes];
constinit size_t early_used = 0;
constinit Next found{};
constinit std::atomic<int> state{0};  // 1: search in progress, 2: found

// Runs at the first allocation of the process, when the process has only one thread.
void find_all() noexcept {
#define RINGSIDE_MEMORY_FIND(member, symbol) \
  found.member = reinterpret_cast<decltype(found.member)>(dlsym(RTLD_NEXT, symbol));
#define RINGSIDE_MEMORY_FIND_SAME(name) RINGSIDE_MEMORY_FIND(name, #name)
  RINGSIDE_MEMORY_NEXT(RINGSIDE_MEMORY_FIND_SAME)
  RINGSIDE_MEMORY_FIND(ppoll_checked, "__ppoll_chk")
  RINGSIDE_MEMORY_FIND(epoll_pwait2, "epoll_pwait2")
  RINGSIDE_MEMORY_FIND(exit_at_once, "_exit")
  RINGSIDE_MEMORY_FIND(ptrace, "ptrace")
  if (found.malloc == nullptr || found.free == nullptr || found.sigaction == nullptr ||
      found.pthread_create == nullptr || found.malloc_usable_size == nullptr) {
    die("no malloc after the preload library", 0);
  }
}

}  // namespace

const Next* next() noexcept {
  if (__builtin_expect(state.load(std::memory_order_acquire) == 2, 1)) return &found;
  if (state.load(std::memory_order_relaxed) == 1) return nullptr;
  state.store(1, std::memory_order_relaxed);
  find_all();
  state.store(2, std::memory_order_release);
  return &found;
}

void* early_alloc(size_t alignment, size_t bytes) noexcept {
  if (alignment < 16) alignment = 16;
  const size_t at = (early_used + sizeof(size_t) + alignment - 1) / alignment * alignment;
  if (bytes > kEarlyBytes || at > kEarlyBytes - bytes) return nullptr;
  early_used = at + bytes;
  __builtin_memcpy(early + at - sizeof bytes, &bytes, sizeof bytes);
  return early + at;
}

bool is_early(const void* memory) noexcept {
  return reinterpret_cast<uintptr_t>(memory) - reinterpret_cast<uintptr_t>(early) < kEarlyBytes;
}

size_t early_bytes(const void* memory) noexcept {
  size_t bytes = 0;
  __builtin_memcpy(&bytes, static_cast<const char*>(memory) - sizeof bytes, sizeof bytes);
  return bytes;
}

}  // namespace ringside::memory
