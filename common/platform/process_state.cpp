// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/process_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "common/platform/unique_fd.hpp"

namespace ringside {

bool is_stopped(pid_t pid) noexcept {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  const UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return false;
  // "PID (NAME) STATE ...": the name may contain any character, but has at most 16 bytes.
  char text[128];
  const ssize_t length = read(file.get(), text, sizeof text);
  if (length <= 0) return false;
  const void* end_of_name = memrchr(text, ')', static_cast<std::size_t>(length));
  if (end_of_name == nullptr) return false;
  const char* state = static_cast<const char*>(end_of_name) + 2;
  return state < text + length && *state == 'T';
}

}  // namespace ringside
