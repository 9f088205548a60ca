// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/data_sync.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

namespace ringside {
namespace {

/// Returns EROFS or EIO if the file system of `file` has aborted its journal after an error, otherwise 0. On ext4
/// (Linux 6.18) an fdatasync that runs during the abort can return 0 although it has lost blocks that were written for
/// the first time. The fdatasync does not report that ext4 failed to mark these blocks as written, because its
/// transaction no longer exists. Any operation that starts a new transaction fails from then on. The operation used
/// here removes an attribute that no file has: it changes nothing and takes about a microsecond.
int aborted(int file) noexcept {
  if (fremovexattr(file, "user.ringside.never_set") == 0) return 0;
  return errno == EROFS || errno == EIO ? errno : 0;
}

}  // namespace

int lost_writes(int file) noexcept {
  if (const int error = aborted(file)) return error;
  // The kernel writes dirty pages in the background. A wait for any part of the file reports a failed write of any
  // page. The error depends on the device or network file system: EIO, ENOSPC, EDQUOT, ENODATA, ESTALE …
  if (sync_file_range(file, 0, 4096, SYNC_FILE_RANGE_WAIT_BEFORE) == 0) return 0;
  const bool is_of_the_call = errno == EINVAL || errno == ENOSYS || errno == ESPIPE || errno == EBADF || errno == EINTR;
  return is_of_the_call ? 0 : errno;
}

int sync_data(int file) noexcept {
  const int error = sync_in_memory(file);
  return error != 0 ? error : aborted(file);
}

bool is_in_memory(int file) noexcept {
  struct statfs system {};
  return fstatfs(file, &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

int sync_in_memory(int file) noexcept {
  while (fdatasync(file) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace ringside
