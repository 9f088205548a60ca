// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/pmdk_syncs.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>

namespace ringside {
namespace {

thread_local PmdkSyncs* innermost = nullptr;

}  // namespace

PmdkSyncs::PmdkSyncs() noexcept : outer_(innermost) {
  innermost = this;
}

PmdkSyncs::~PmdkSyncs() {
  innermost = outer_;
}

void PmdkSyncs::note(int error) noexcept {
  if (error_ == 0) error_ = error;
}

}  // namespace ringside

// The dynamic linker prefers a program's own functions, even for calls from libraries. The function is weak, because a
// test that watches every call of libpmemobj defines its own msync.
extern "C" __attribute__((visibility("default"), used, weak)) int msync(void* address, std::size_t bytes, int flags) {
  using Msync = int(void*, std::size_t, int);
  static Msync* const next = reinterpret_cast<Msync*>(dlsym(RTLD_NEXT, "msync"));
  const int result = next(address, bytes, flags);
  if (result == 0 || ringside::innermost == nullptr) return result;
  ringside::innermost->note(errno);
  return 0;
}
