// Preloaded into a program: a disk that fails when the test says so, and well again afterwards, as a kernel reports a
// lost page once and then forgets about it.
//   RINGSIDE_TEST_FDATASYNC_FAILS_AT=N   the N-th fdatasync fails with EIO
//   RINGSIDE_TEST_PWRITE_FAILS_EACH=N    each N-th pwrite fails with EIO
#include <dlfcn.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

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

}  // namespace

extern "C" int fdatasync(int fd) {
  static const auto next = real<int(int)>("fdatasync");
  static const long fails_at = number("RINGSIDE_TEST_FDATASYNC_FAILS_AT");
  static std::atomic<long> calls{0};
  return ++calls == fails_at ? fail() : next(fd);
}

extern "C" ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t offset) {
  static const auto next = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  static const long fails_each = number("RINGSIDE_TEST_PWRITE_FAILS_EACH");
  static std::atomic<long> calls{0};
  return fails_each > 0 && ++calls % fails_each == 0 ? fail() : next(fd, data, bytes, offset);
}

extern "C" ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  return pwrite64(fd, data, bytes, offset);
}
