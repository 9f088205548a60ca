// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/process_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/platform/unique_fd.hpp"

namespace ringside {
namespace {

/// "PID (NAME) STATE ..." of /proc/PID/stat.
struct StatLine {
  char text[512] = {};

  /// From the state on; null where /proc cannot be read. The name may contain any character, but has at most 16 bytes.
  const char* read(pid_t pid) noexcept {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
    const UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return nullptr;
    const ssize_t length = ::read(file.get(), text, sizeof text - 1);
    const char* end_of_name = std::strrchr(text, ')');
    return length > 0 && end_of_name != nullptr && end_of_name[1] != '\0' ? end_of_name + 2 : nullptr;
  }
};

}  // namespace

bool is_stopped(pid_t pid) noexcept {
  StatLine line;
  const char* state = line.read(pid);
  return state != nullptr && *state == 'T';
}

std::uint64_t start_of(pid_t pid) noexcept {
  constexpr int kFromStateToStart = 22 - 3;  // fields of proc(5)
  StatLine line;
  const char* field = line.read(pid);
  for (int i = 0; i < kFromStateToStart && field != nullptr; ++i) {
    field = std::strchr(field, ' ');
    if (field != nullptr) ++field;
  }
  return field != nullptr ? std::strtoull(field, nullptr, 10) : 0;
}

}  // namespace ringside
