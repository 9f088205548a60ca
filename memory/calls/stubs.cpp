// SPDX-License-Identifier: BSD-3-Clause
#include "memory/calls/stubs.hpp"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/arena/geometry.hpp"
#include "memory/system/raw.hpp"

#if defined(__x86_64__)

namespace ringside::memory {

static_assert(offsetof(Frame, result) == 8 && offsetof(Frame, arguments) == 16 &&
              offsetof(Frame, stack_pointer) == 64 && kFinishNumber == 29287);

// For the unwinder: the caller's stack pointer is stored at 64(%rsp), and the return address at 0(%rsp).
#define RINGSIDE_FRAME_OF_CALLER \
  ".cfi_escape 0x0f, 4, 0x77, 0xc0, 0x00, 0x06\n" \
  ".cfi_escape 0x10, 16, 2, 0x77, 0\n"

// For the unwinder, a stub is a function that was called by the interrupted function, so that cancellation and
// exceptions from a handler pass through the stub. The stubs change no flags. They may use rcx and r11, because the
// instruction `syscall` overwrites these.
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".hidden ringside_memory_stubs_first, ringside_memory_stubs_end\n"
    ".globl ringside_memory_stubs_first, ringside_memory_stubs_end\n"
    "ringside_memory_stubs_first:\n"
    ".hidden ringside_memory_plain, ringside_memory_plain_site\n"
    ".globl ringside_memory_plain, ringside_memory_plain_site\n"
    ".type ringside_memory_plain, @function\n"
    "ringside_memory_plain_entry:\n"
    ".cfi_startproc\n"
    RINGSIDE_FRAME_OF_CALLER
    "nop\n"
    "ringside_memory_plain:\n"
    "syscall\n"
    "ringside_memory_plain_site:\n"
    "movq 16(%rsp), %rdi\n"
    "movq 24(%rsp), %rsi\n"
    "movq 32(%rsp), %rdx\n"
    "movq 40(%rsp), %r10\n"
    "movq 48(%rsp), %r8\n"
    "movq 56(%rsp), %r9\n"
    "movq (%rsp), %rcx\n"
    "movq 64(%rsp), %rsp\n"
    ".cfi_def_cfa rsp, 0\n"
    ".cfi_register rip, rcx\n"
    "jmpq *%rcx\n"
    ".cfi_endproc\n"
    ".size ringside_memory_plain, .-ringside_memory_plain\n"
    ".hidden ringside_memory_pinned, ringside_memory_pinned_site, ringside_memory_finish_site\n"
    ".globl ringside_memory_pinned, ringside_memory_pinned_site, ringside_memory_finish_site\n"
    ".type ringside_memory_pinned, @function\n"
    "ringside_memory_pinned_entry:\n"
    ".cfi_startproc\n"
    RINGSIDE_FRAME_OF_CALLER
    "nop\n"
    "ringside_memory_pinned:\n"
    "syscall\n"
    "ringside_memory_pinned_site:\n"
    "movq %rax, 8(%rsp)\n"
    "movl $29287, %eax\n"
    "syscall\n"
    "ringside_memory_finish_site:\n"
    "ud2\n"
    "ringside_memory_stubs_end:\n"
    ".cfi_endproc\n"
    ".size ringside_memory_pinned, .-ringside_memory_pinned\n");

extern "C" {
extern const char ringside_memory_plain[], ringside_memory_plain_site[], ringside_memory_pinned[],
    ringside_memory_pinned_site[], ringside_memory_finish_site[], ringside_memory_stubs_first[],
    ringside_memory_stubs_end[];
}

namespace {

// The copy of the stubs is just below the arena.
constexpr uint64_t kFixedPage = uint64_t{0x1fff'ffff'0000}, kRawAt = kFixedPage + 512;

constinit bool fixed_in_use = false;

uint64_t address_of_label(const char* label) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(label));
}

// The addresses of the stubs, in the library or in the copy.
Stubs stubs_at(uint64_t first, uint64_t raw_first) {
  const auto at = [first](const char* label) {
    return first + (address_of_label(label) - address_of_label(ringside_memory_stubs_first));
  };
  const RawCode code = raw_code();
  return {at(ringside_memory_plain),       at(ringside_memory_plain_site),
          at(ringside_memory_pinned),      at(ringside_memory_pinned_site),
          at(ringside_memory_finish_site), raw_first + static_cast<uint64_t>(code.site - code.first)};
}

}  // namespace

Stubs stubs() noexcept {
  if (fixed_in_use) return fixed_stubs();
  return stubs_at(address_of_label(ringside_memory_stubs_first), address_of_label(raw_code().first));
}

Stubs fixed_stubs() noexcept {
  return stubs_at(kFixedPage, kRawAt);
}

long use_fixed_stubs() noexcept {
  if (fixed_in_use) return 0;
  const auto page = static_cast<long>(kFixedPage);
  const long at = raw(SYS_mmap, page, kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (at != page) return at < 0 ? at : -EEXIST;
  const RawCode code = raw_code();
  const auto to = [](uint64_t address) { return reinterpret_cast<char*>(static_cast<uintptr_t>(address)); };
  memcpy(to(kFixedPage), ringside_memory_stubs_first,
         static_cast<size_t>(ringside_memory_stubs_end - ringside_memory_stubs_first));
  memcpy(to(kRawAt), code.first, static_cast<size_t>(code.end - code.first));
  const long result = raw(SYS_mprotect, page, kPage, PROT_READ | PROT_EXEC);
  if (result < 0) return result;
  use_raw_code(to(kRawAt));
  fixed_in_use = true;
  return 0;
}

}  // namespace ringside::memory

#endif
