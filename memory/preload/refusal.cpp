// SPDX-License-Identifier: BSD-3-Clause
// Ends a program that cannot use this library, with one line and before any other code runs. This code is the resolver
// of an indirect function, which the loader calls while it links the program. At that time, neither the C library nor a
// sanitizer's run-time library has started. (The sanitizer's library would end the process itself.) `ringside-memory
// run` checks PROGRAM; this code checks the programs that PROGRAM starts.
#include <fcntl.h>

#include "memory/preload/process.hpp"
#include "memory/system/line.hpp"
#include "memory/system/raw.hpp"
#include "memory/system/sanitizer.hpp"

namespace ringside::memory {
namespace {

[[noreturn]] void refuse(const char* found) {
  char path[256];
  const long length = raw(SYS_readlink, as_long("/proc/self/exe"), as_long(path), sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  Line line;
  line << path << ": found " << found << ", which itself replaces malloc; expected a program without it: "
       << "start this program without ringside-memory";
  print_line(line.text());
  raw(SYS_exit_group, 2);
  __builtin_unreachable();
}

void nothing() {}

}  // namespace

extern "C" {
__attribute__((visibility("hidden"), used)) void (*ringside_memory_look_first() noexcept)() {
  if (is_below_valgrind()) refuse("valgrind");
  const long file = raw(SYS_openat, AT_FDCWD, as_long("/proc/self/exe"), O_RDONLY | O_CLOEXEC);
  const char* const sanitizer = file < 0 ? nullptr : sanitizer_of(static_cast<int>(file));
  if (file >= 0) raw(SYS_close, file);
  if (sanitizer != nullptr) refuse(sanitizer);
  return nothing;
}
__attribute__((visibility("hidden"), ifunc("ringside_memory_look_first"))) void ringside_memory_first() noexcept;
}

// Uses the function, because the loader resolves only functions that are used.
__attribute__((constructor(101))) void use_first() {
  ringside_memory_first();
}

}  // namespace ringside::memory
