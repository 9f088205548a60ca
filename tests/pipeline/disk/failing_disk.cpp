// SPDX-License-Identifier: BSD-3-Clause
// A library to preload into a program. It simulates a disk that fails as the environment variables say:
//   RINGSIDE_TEST_FDATASYNC_FAILS_AT=N   the N-th fdatasync fails with EIO, and later ones succeed: a kernel reports a
//                                        lost page once and then forgets about it
//   RINGSIDE_TEST_PWRITE_FAILS_EACH=N    every N-th pwrite fails with EIO
//   RINGSIDE_TEST_SYNCS_FAIL_FROM=N      in the analyzer, every fdatasync, fsync, msync, fallocate and
//                                        fremovexattr from the N-th on fails with EIO, also those of
//                                        libpmemobj and libpmem
//   RINGSIDE_TEST_SYNCS_COUNTED_IN=FILE  gets one byte for each of those calls
//   RINGSIDE_TEST_TRUNCATES=FILE         this file is cut to a page as soon as it is mapped
//   RINGSIDE_TEST_PWRITE_TRUNCATES_AT=N  in the analyzer, the file of the N-th pwrite is cut to a page just before it
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace {

long number(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atol(text);
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int fail() {
  errno = EIO;
  return -1;
}

bool in_analyzer() {
  return std::strcmp(program_invocation_short_name, "ringside-analyzer") == 0;
}

/// Counts a call that waits for the disk or allocates space on the disk. Returns whether the call must fail.
bool sync_fails() {
  static const bool analyzer = in_analyzer();
  static const long fails_from = analyzer ? number("RINGSIDE_TEST_SYNCS_FAIL_FROM") : 0;
  static const char* const counted_in = analyzer ? std::getenv("RINGSIDE_TEST_SYNCS_COUNTED_IN") : nullptr;
  static std::atomic<long> calls{0};
  if (counted_in != nullptr) {
    const int file = open(counted_in, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || write(file, "s", 1) != 1) abort();
    close(file);
  }
  const long call = ++calls;
  return fails_from > 0 && call >= fails_from;
}

bool is_file(int fd, const char* path) {
  struct stat mapped {};
  struct stat named {};
  return fstat(fd, &mapped) == 0 && stat(path, &named) == 0 && mapped.st_ino == named.st_ino &&
         mapped.st_dev == named.st_dev;
}

}  // namespace

extern "C" int fdatasync(int fd) {
  static const auto next = real<int(int)>("fdatasync");
  static const long fails_at = number("RINGSIDE_TEST_FDATASYNC_FAILS_AT");
  static std::atomic<long> calls{0};
  if (sync_fails()) return fail();
  return ++calls == fails_at ? fail() : next(fd);
}

extern "C" int fsync(int fd) {
  static const auto next = real<int(int)>("fsync");
  return sync_fails() ? fail() : next(fd);
}

extern "C" int fremovexattr(int fd, const char* name) noexcept {
  static const auto next = real<int(int, const char*)>("fremovexattr");
  return sync_fails() ? fail() : next(fd, name);
}

extern "C" int msync(void* address, size_t bytes, int flags) {
  static const auto next = real<int(void*, size_t, int)>("msync");
  return sync_fails() ? fail() : next(address, bytes, flags);
}

extern "C" int posix_fallocate64(int fd, off64_t offset, off64_t bytes) {
  static const auto next = real<int(int, off64_t, off64_t)>("posix_fallocate64");
  return sync_fails() ? EIO : next(fd, offset, bytes);
}

extern "C" int posix_fallocate(int fd, off_t offset, off_t bytes) {
  return posix_fallocate64(fd, offset, bytes);
}

extern "C" ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t offset) {
  static const auto next = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  static const long fails_each = number("RINGSIDE_TEST_PWRITE_FAILS_EACH");
  static const long truncates_at = in_analyzer() ? number("RINGSIDE_TEST_PWRITE_TRUNCATES_AT") : 0;
  static std::atomic<long> calls{0};
  const long call = ++calls;
  if (call == truncates_at && ftruncate(fd, 4096) != 0) abort();
  return fails_each > 0 && call % fails_each == 0 ? fail() : next(fd, data, bytes, offset);
}

extern "C" ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  return pwrite64(fd, data, bytes, offset);
}

extern "C" void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  static const auto next = real<void*(void*, size_t, int, int, int, off_t)>("mmap");
  static const char* const truncates = std::getenv("RINGSIDE_TEST_TRUNCATES");
  void* const mapped = next(address, bytes, protection, flags, fd, offset);
  if (truncates != nullptr && mapped != MAP_FAILED && fd >= 0 && is_file(fd, truncates)) {
    if (truncate(truncates, 4096) != 0) abort();
  }
  return mapped;
}
