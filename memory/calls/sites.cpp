// SPDX-License-Identifier: BSD-3-Clause
#include "memory/calls/sites.hpp"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/personality.h>

#include <initializer_list>

#include "memory/calls/table.hpp"
#include "memory/system/raw.hpp"

#if defined(__x86_64__)

namespace ringside::memory {

constinit Sites sites;

namespace {

bool addresses_are_random() {
  if ((raw(SYS_personality, 0xffffffff) & ADDR_NO_RANDOMIZE) != 0) return false;
  const long file = raw(SYS_openat, AT_FDCWD, as_long("/proc/sys/kernel/randomize_va_space"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  char value = '2';
  raw(SYS_read, file, as_long(&value), 1);
  raw(SYS_close, file);
  return value != '0';
}

void add_if_nested(uint32_t number, uint64_t behind) {
  for (size_t i = 0; i < calls_in_table; ++i) {
    if (calls_table[i].number == number && is_nested(calls_table[i])) sites.add(number, behind);
  }
}

// Finds `mov $NUMBER, %REGISTER` before `mov %REGISTER, %eax`, because loops keep the number in a register (aio_read,
// writev).
void look_for_kept_number(const unsigned char* code, const unsigned char* move, uint64_t behind) {
  constexpr size_t kFar = 512;
  const bool is_high = move > code && move[-1] == 0x44;  // r8d to r15d
  const auto load = static_cast<unsigned char>(0xb8 | (move[1] >> 3 & 7));
  const unsigned char* const first = static_cast<size_t>(move - code) < kFar ? code : move - kFar;
  for (const unsigned char* before = move - 5; before > first; --before) {
    if (before[0] != load || (before[-1] == 0x41) != is_high) continue;
    uint32_t number = 0;
    memcpy(&number, before + 1, sizeof number);
    if (number >= kMostNumber) continue;
    add_if_nested(number, behind);
    return;
  }
}

// Whether `code` loads a call number that its caller gives. It may come from the first argument (`mov %rdi, %rax`:
// `syscall()`), from the second one (`mov %rsi, %rax`) or, immediately before the call, from the stack (`mov N(%rsp),
// %rax`). glibc from 2.41 has the latter two in __syscall_cancel, which makes all calls that are cancellation points.
bool takes_any_number(const unsigned char* code, const unsigned char* syscall) {
  if (code[0] == 0x48 && code[1] == 0x89 && (code[2] == 0xf8 || code[2] == 0xf0)) return true;
  return code + 5 == syscall && code[0] == 0x48 && code[1] == 0x8b && code[2] == 0x44 && code[3] == 0x24;
}

// Finds `mov $NUMBER, %eax` with `syscall` a few instructions later.
void look_through(const unsigned char* code, size_t bytes) {
  constexpr size_t kNear = 40;
  for (const unsigned char* at = code; at + 1 < code + bytes; ++at) {
    at = static_cast<const unsigned char*>(memchr(at, 0x0f, static_cast<size_t>(code + bytes - at) - 1));
    if (at == nullptr) return;
    if (at[1] != 0x05) continue;
    const auto behind = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(at)) + 2;
    const unsigned char* const first = static_cast<size_t>(at - code) < kNear ? code : at - kNear;
    for (const unsigned char* before = at - 3; before >= first; --before) {
      if (before + 5 <= at && before[0] == 0xb8) {
        uint32_t number = 0;
        memcpy(&number, before + 1, sizeof number);
        if (number >= kMostNumber) continue;
        add_if_nested(number, behind);
        break;
      }
      if (takes_any_number(before, at)) {
        for (size_t i = 0; i < calls_in_table; ++i) {
          if (is_nested(calls_table[i])) sites.add(calls_table[i].number, behind);
        }
        break;
      }
      // This may be `mov %REGISTER, %eax`, but also the end of another instruction. So the search for a nearby number
      // continues.
      if (before[0] == 0x89 && (before[1] & 0xc7) == 0xc0) look_for_kept_number(code, before, behind);
    }
  }
}

bool is_c_library(const char* name) {
  const char* const slash = strrchr(name, '/');
  const char* const base = slash == nullptr ? name : slash + 1;
  for (const char* start : {"libc.", "libc-", "libpthread.", "libpthread-", "libaio.", "ld-musl-"}) {
    if (strncmp(base, start, strlen(start)) == 0) return true;
  }
  return false;
}

struct Search {
  bool any_object;
  bool found;
};

int visit(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!search.any_object && !is_c_library(info->dlpi_name)) return 0;
  search.found = true;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    look_through(reinterpret_cast<const unsigned char*>(static_cast<uintptr_t>(info->dlpi_addr + part.p_vaddr)),
                 part.p_filesz);
  }
  return search.any_object ? 1 : 0;  // the program is the first object; if it is static, it is the only object
}

}  // namespace

void Sites::add(uint32_t number, uint64_t address) noexcept {
  if (count_ < kMost) sites_[count_++] = {number, address};
}

void Sites::find() noexcept {
  if (looked_) return;
  looked_ = true;
  randomised_ = addresses_are_random();
  if (!randomised_) return;
  Search search{false, false};
  dl_iterate_phdr(visit, &search);
  if (search.found) return;
  search.any_object = true;
  dl_iterate_phdr(visit, &search);
}

}  // namespace ringside::memory

#endif
