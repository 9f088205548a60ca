// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/creation_mark.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace ringside {
namespace {

struct flock first_byte(short type) noexcept {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_len = 1;
  return range;
}

}  // namespace

void mark_as_being_made(int fd) noexcept {
  struct flock range = first_byte(F_WRLCK);
  fcntl(fd, F_OFD_SETLK, &range);
}

void unmark_as_being_made(int fd) noexcept {
  struct flock range = first_byte(F_UNLCK);
  fcntl(fd, F_OFD_SETLK, &range);
}

bool is_being_made(int fd) noexcept {
  struct flock range = first_byte(F_RDLCK);  // the range that F_OFD_GETLK checks; no lock is taken
  return fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

}  // namespace ringside
