// SPDX-License-Identifier: BSD-3-Clause
// Protects the library's descriptors (far memory, userfaultfd). Daemons, and children before exec, often close all
// descriptors that they did not open; absent pages would then read as zeros. Therefore the library's descriptors have
// high numbers, and the functions that close descriptors skip these numbers.
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "memory/core.hpp"
#include "memory/far/far_file.hpp"
#include "memory/faults/handler_thread.hpp"
#include "memory/preload/interface.hpp"
#include "memory/preload/process.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {
namespace {

constexpr unsigned kHigh = 900;  // below 1024, the limit of select(2) and the usual limit of a process
constexpr int kOwn = 3;

/// False in a child of vfork: it may close its copies of the descriptors, because its exec closes them anyway.
bool is_guarded() {
  return core.ready() && raw(SYS_getpid) == own_process();
}

void own_descriptors(int* numbers) {
  numbers[0] = core.userfault.descriptor;
  numbers[1] = far.descriptor();
  numbers[2] = handler_thread.descriptor();
  std::sort(numbers, numbers + kOwn);
}

bool is_own(int descriptor) {
  if (descriptor < 0 || !is_guarded()) return false;
  int own[kOwn];
  own_descriptors(own);
  return std::find(own, own + kOwn, descriptor) != own + kOwn;
}

/// Closes the descriptors of a range, except those of the library.
long close_around(unsigned first, unsigned last, unsigned flags) {
  int own[kOwn];
  own_descriptors(own);
  unsigned from = first;
  for (const int number : own) {
    const auto here = static_cast<unsigned>(number);
    if (number < 0 || here < from || here > last) continue;
    if (here > from) {
      const long result = raw(SYS_close_range, from, here - 1, flags);
      if (result < 0) return result;
    }
    from = here + 1;
  }
  return from <= last ? raw(SYS_close_range, from, last, flags) : 0;
}

}  // namespace

void keep_descriptors() noexcept {
  struct rlimit limit {};
  raw(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, as_long(&limit));
  least_descriptor = static_cast<int>(limit.rlim_cur < 2 * kHigh ? limit.rlim_cur / 2 : kHigh);
}

}  // namespace ringside::memory

using namespace ringside::memory;

RINGSIDE_MEMORY_INTERPOSED int close(int descriptor) {
  return result_of(is_own(descriptor) ? -EBADF : raw(SYS_close, descriptor));
}

RINGSIDE_MEMORY_INTERPOSED int close_range(unsigned first, unsigned last, int flags) {
  // UNSHARE gives this thread its own table, with copies of the library's descriptors.
  if (!is_guarded() || first > last) return result_of(raw(SYS_close_range, first, last, flags));
  return result_of(close_around(first, last, static_cast<unsigned>(flags)));
}

RINGSIDE_MEMORY_INTERPOSED void closefrom(int first) {
  const int kept = errno;
  close_range(first < 0 ? 0 : static_cast<unsigned>(first), ~0u, 0);
  errno = kept;
}

RINGSIDE_MEMORY_INTERPOSED int dup2(int from, int to) {
  if (is_own(to)) return result_of(-EBADF);
  if (from != to) return result_of(raw(SYS_dup3, from, to, 0));
  const long open = raw(SYS_fcntl, from, F_GETFD);  // dup3 refuses equal numbers; not every processor has dup2
  return result_of(open < 0 ? open : from);
}

RINGSIDE_MEMORY_INTERPOSED int dup3(int from, int to, int flags) {
  return result_of(is_own(to) ? -EBADF : raw(SYS_dup3, from, to, flags));
}
