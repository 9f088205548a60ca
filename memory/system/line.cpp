// SPDX-License-Identifier: BSD-3-Clause
#include "memory/system/line.hpp"

#include <errno.h>
#include <string.h>

namespace ringside::memory {
namespace {

// The variable is initial-exec (the build sets this), because the first access of a thread must not allocate.
thread_local char last_line[320] = "no failure";

}  // namespace

int fail(int error, const Line& line) noexcept {
  memcpy(last_line, line.text(), line.length() + 1);
  errno = error;
  return -1;
}

const char* last_failure() noexcept {
  return last_line;
}

const char* error_text(long error) noexcept {
  const char* const text = strerrordesc_np(static_cast<int>(error < 0 ? -error : error));
  return text == nullptr ? "unknown error" : text;
}

}  // namespace ringside::memory
