// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18  // new in Linux 4.14
#endif

namespace ringside {
namespace {

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// The line "PID (NAME) STATE ..." in /proc/PID/stat.
struct StatLine {
  char text[512] = {};

  /// The line from the state on; null if /proc cannot be read. The name may contain any character, but has at most 16
  /// bytes.
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

ForkMark::ForkMark() noexcept : owner_(getpid()) {
  void* page = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) {
    munmap(page, page_bytes());
    return;
  }
  *static_cast<unsigned char*>(page) = 1;
  page_ = static_cast<const unsigned char*>(page);
}

ForkMark::~ForkMark() {
  if (page_ != nullptr) munmap(const_cast<unsigned char*>(page_), page_bytes());
}

Error ForkMark::misuse() const {
  return usage_error("this handle belongs to process {}; its child {} must open one of its own", owner_, getpid());
}

bool is_stopped(pid_t pid) noexcept {
  StatLine line;
  const char* state = line.read(pid);
  return state != nullptr && *state == 'T';
}

bool is_runnable(pid_t thread) noexcept {
  StatLine line;
  const char* state = line.read(thread);
  return state != nullptr && *state == 'R';
}

std::uint64_t start_of(pid_t pid) noexcept {
  constexpr int kFromStateToStart = 22 - 3;  // the numbers of the two fields in proc(5)
  StatLine line;
  const char* field = line.read(pid);
  for (int i = 0; i < kFromStateToStart && field != nullptr; ++i) {
    field = std::strchr(field, ' ');
    if (field != nullptr) ++field;
  }
  return field != nullptr ? std::strtoull(field, nullptr, 10) : 0;
}

std::vector<char*> exec_list(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

const char* environment_value(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

Pipe new_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("cannot create a pipe: {}", errno_text(errno));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

int read_to_end(int fd, std::string& text, std::size_t most) {
  std::array<char, 1 << 16> part;
  for (;;) {
    const ssize_t got = read(fd, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    text.append(part.data(), static_cast<std::size_t>(got));
    if (got == 0 || text.size() > most) return 0;
  }
}

}  // namespace ringside
