// SPDX-License-Identifier: BSD-3-Clause
#include "memory/system/available.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "memory/system/line.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {
namespace {

long read_file(const char* path, char* text, size_t room) {
  const long file = raw(SYS_openat, AT_FDCWD, as_long(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return file;
  const long got = raw(SYS_read, file, as_long(text), static_cast<long>(room - 1));
  raw(SYS_close, file);
  text[got > 0 ? got : 0] = '\0';
  return got;
}

// The smallest memory.max of the process's cgroup and those above it (version 2); UINT64_MAX if none is set.
uint64_t cgroup_limit() {
  char own[256], path[320], text[32];
  if (read_file("/proc/self/cgroup", own, sizeof own) <= 0) return UINT64_MAX;
  char* group = strstr(own, "0::/");
  if (group == nullptr) return UINT64_MAX;
  group += 3;
  size_t length = strcspn(group, "\n");
  uint64_t least = UINT64_MAX;
  while (length > 0) {
    group[length] = '\0';
    Line name;
    name << "/sys/fs/cgroup" << group << "/memory.max";
    memcpy(path, name.text(), name.length() + 1);
    if (read_file(path, text, sizeof text) > 0 && text[0] >= '0' && text[0] <= '9') {
      uint64_t value = 0;
      for (const char* digit = text; *digit >= '0' && *digit <= '9'; ++digit)
        value = value * 10 + static_cast<uint64_t>(*digit - '0');
      if (value < least) least = value;
    }
    while (length > 0 && group[--length] != '/') {
    }
  }
  return least;
}

}  // namespace

uint64_t available_memory(const char** bound) noexcept {
  struct sysinfo info {};
  raw(SYS_sysinfo, as_long(&info));
  const uint64_t ram = static_cast<uint64_t>(info.totalram) * info.mem_unit;
  const uint64_t group = cgroup_limit();
  *bound = group < ram ? "the limit of the memory cgroup" : "the memory of the machine";
  return group < ram ? group : ram;
}

}  // namespace ringside::memory
