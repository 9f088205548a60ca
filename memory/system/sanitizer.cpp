// SPDX-License-Identifier: BSD-3-Clause
#include "memory/system/sanitizer.hpp"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/system/raw.hpp"

namespace ringside::memory {
namespace {

struct Mark {
  char symbol[16];  // an entry point of the sanitizer's run-time library
  char name[24];
};
constexpr Mark kMarks[] = {{"__asan_init", "AddressSanitizer"},
                           {"__hwasan_init", "HWAddressSanitizer"},
                           {"__tsan_init", "ThreadSanitizer"},
                           {"__msan_init", "MemorySanitizer"},
                           {"__lsan_init", "LeakSanitizer"}};
constexpr size_t kLongest = sizeof kMarks[0].symbol;

bool read_all(int file, void* to, size_t bytes, uint64_t at) {
  return raw(SYS_pread64, file, as_long(to), static_cast<long>(bytes), static_cast<long>(at)) ==
         static_cast<long>(bytes);
}

// The mark whose symbol, with its terminating zero, begins at `text`.
const Mark* mark_at(const char* text, const char* end) {
  if (end - text < 3 || text[0] != '_' || text[1] != '_') return nullptr;
  for (const Mark& mark : kMarks) {
    for (size_t i = 0; text + i < end && text[i] == mark.symbol[i]; ++i) {
      if (text[i] == '\0') return &mark;
    }
  }
  return nullptr;
}

constexpr uint64_t kBuffer = 64 << 10;  // the buffer is mapped, because the stack may be small

// Searches a table of names, which is read in pieces that overlap by the length of a name.
const Mark* mark_in(int file, uint64_t at, uint64_t bytes, char* buffer) {
  const Mark* found = nullptr;
  for (uint64_t done = 0; done < bytes; done += kBuffer - kLongest) {
    const uint64_t part = bytes - done < kBuffer ? bytes - done : kBuffer;
    if (!read_all(file, buffer, part, at + done)) return found;
    for (const char* text = buffer; text < buffer + part; ++text) {
      const Mark* const mark = mark_at(text, buffer + part);
      // If a table has several marks, the first one in kMarks is used.
      if (mark != nullptr && (found == nullptr || mark < found)) found = mark;
    }
  }
  return found;
}

}  // namespace

const char* sanitizer_of(int program_file) noexcept {
  Elf64_Ehdr header;
  if (!read_all(program_file, &header, sizeof header, 0) || header.e_shentsize != sizeof(Elf64_Shdr)) return nullptr;
  char* const buffer = static_cast<char*>(map_table(kBuffer));
  const Mark* found = nullptr;
  for (unsigned number = 0; buffer != nullptr && number < header.e_shnum; ++number) {
    Elf64_Shdr section;
    if (!read_all(program_file, &section, sizeof section, header.e_shoff + number * sizeof section)) break;
    if (section.sh_type != SHT_STRTAB) continue;
    const Mark* const mark = mark_in(program_file, section.sh_offset, section.sh_size, buffer);
    if (mark != nullptr && (found == nullptr || mark < found)) found = mark;
  }
  unmap_table(buffer, kBuffer);
  return found == nullptr ? nullptr : found->name;
}

bool is_below_valgrind() noexcept {
#if defined(__x86_64__)
  // A "client request" of valgrind.h (RUNNING_ON_VALGRIND). It is four rotations, which together have no effect on a
  // processor.
  const uint64_t request[6] = {0x1001, 0, 0, 0, 0, 0};
  uint64_t answer = 0;
  __asm__ volatile(
      "rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n"
      "xchgq %%rbx, %%rbx"
      : "+d"(answer)
      : "a"(request)
      : "cc", "memory");
  return answer != 0;
#else
  return false;
#endif
}

}  // namespace ringside::memory
