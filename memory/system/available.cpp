// SPDX-License-Identifier: BSD-3-Clause
#include "memory/system/available.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include "memory/system/line.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {
namespace {

// Large enough for the groups of a process in all hierarchies of version 1.
constexpr size_t kGroupsBytes = 4096;

long read_file(const char* path, char* text, size_t room) {
  const long file = raw(SYS_openat, AT_FDCWD, as_long(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return file;
  const long got = raw(SYS_read, file, as_long(text), static_cast<long>(room - 1));
  raw(SYS_close, file);
  text[got > 0 ? got : 0] = '\0';
  return got;
}

// The number in a file; UINT64_MAX if there is none ("max", or the group does not exist).
uint64_t limit_in(const char* path) {
  char text[32];
  if (read_file(path, text, sizeof text) <= 0 || text[0] < '0' || text[0] > '9') return UINT64_MAX;
  uint64_t value = 0;
  for (const char* digit = text; *digit >= '0' && *digit <= '9'; ++digit)
    value = value * 10 + static_cast<uint64_t>(*digit - '0');
  return value;
}

// The least limit of the group and its parents. In a container, only the last component of the path may be visible: the
// container's own group.
uint64_t least_limit(const char* root, char* group, const char* file) {
  uint64_t least = UINT64_MAX;
  for (size_t length = strlen(group);;) {
    group[length] = '\0';
    Line path;
    path << root << group << file;
    const uint64_t limit = limit_in(path.text());
    if (limit < least) least = limit;
    if (length == 0) return least;
    while (group[--length] != '/' && length > 0) continue;
  }
}

// Whether a list of names like "cpu,memory" contains a name.
bool has_name(const char* list, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = list;; ++at) {
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    at = strchr(at, ',');
    if (at == nullptr) return false;
  }
}

}  // namespace

uint64_t cgroup_limit(const char* groups, const char* root) noexcept {
  char text[kGroupsBytes];
  if (read_file(groups, text, sizeof text) <= 0) return UINT64_MAX;
  uint64_t least = UINT64_MAX;
  for (char *line = text, *next = nullptr; *line != '\0'; line = next) {  // number:controllers:group
    next = line + strcspn(line, "\n");
    if (*next != '\0') *next++ = '\0';
    char* const controllers = strchr(line, ':');
    char* const group = controllers == nullptr ? nullptr : strchr(controllers + 1, ':');
    if (group == nullptr || group[1] != '/') continue;
    *group = '\0';
    uint64_t limit = UINT64_MAX;
    if (controllers[1] == '\0') {
      limit = least_limit(root, group + 1, "/memory.max");
    } else if (has_name(controllers + 1, "memory")) {
      Line hierarchy;
      hierarchy << root << "/memory";
      limit = least_limit(hierarchy.text(), group + 1, "/memory.limit_in_bytes");
    }
    if (limit < least) least = limit;
  }
  return least;
}

uint64_t available_memory(const char** bound) noexcept {
  struct sysinfo info {};
  raw(SYS_sysinfo, as_long(&info));
  const uint64_t ram = static_cast<uint64_t>(info.totalram) * info.mem_unit;
  const uint64_t group = cgroup_limit("/proc/self/cgroup", "/sys/fs/cgroup");
  *bound = group < ram ? "the limit of the memory cgroup" : "the memory of the machine";
  return group < ram ? group : ram;
}

uint64_t process_limit(int resource) noexcept {
  struct rlimit limit {};
  if (raw(SYS_prlimit64, 0, resource, 0, as_long(&limit)) < 0) return UINT64_MAX;
  return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

uint64_t address_limit(const char** name) noexcept {
  const uint64_t all = process_limit(RLIMIT_AS), data = process_limit(RLIMIT_DATA);
  *name = all < data ? "ulimit -v" : "ulimit -d";
  return all < data ? all : data;
}

}  // namespace ringside::memory
