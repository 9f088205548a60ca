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

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Runs at the first allocation of the process, before it has a second thread.
void find_all() noexcept {
  find(found.malloc, "malloc");
  find(found.calloc, "calloc");
  find(found.realloc, "realloc");
  find(found.free, "free");
  find(found.memalign, "memalign");
  find(found.posix_memalign, "posix_memalign");
  find(found.aligned_alloc, "aligned_alloc");
  find(found.valloc, "valloc");
  find(found.pvalloc, "pvalloc");
  find(found.malloc_usable_size, "malloc_usable_size");
  find(found.sigaction, "sigaction");
  find(found.sigsuspend, "sigsuspend");
  find(found.ppoll, "ppoll");
  find(found.ppoll_checked, "__ppoll_chk");
  find(found.pselect, "pselect");
  find(found.epoll_pwait, "epoll_pwait");
  find(found.epoll_pwait2, "epoll_pwait2");
  find(found.exit_at_once, "_exit");
  find(found.ptrace, "ptrace");
  find(found.setuid, "setuid");
  find(found.setgid, "setgid");
  find(found.seteuid, "seteuid");
  find(found.setegid, "setegid");
  find(found.setreuid, "setreuid");
  find(found.setregid, "setregid");
  find(found.setresuid, "setresuid");
  find(found.setresgid, "setresgid");
  find(found.pthread_create, "pthread_create");
  find(found.pthread_attr_setstack, "pthread_attr_setstack");
  find(found.pthread_attr_setsigmask_np, "pthread_attr_setsigmask_np");
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
