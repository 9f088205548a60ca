// SPDX-License-Identifier: BSD-3-Clause
// Sockets in the file system that only their owner can use, from the first moment on. The umask is not used for this
// purpose, because it belongs to the whole process and would change the mode of files that other threads create
// meanwhile.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>

namespace ringside {

/// Binds a Unix-domain socket, but does not listen; the file has mode 0600. Returns 0 or an errno value.
inline int bind_for_owner(int socket, const sockaddr_un& address) noexcept {
  // On Linux the file gets the mode of the socket, less the bits of the umask.
  if (fchmod(socket, S_IRUSR | S_IWUSR) != 0) return errno;
  if (bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return errno;
  struct stat made {};
  if (address.sun_path[0] == '\0' || lstat(address.sun_path, &made) != 0) return 0;
  if ((made.st_mode & ALLPERMS) == (S_IRUSR | S_IWUSR)) return 0;
  // Here, the umask has denied the owner a right, which is set now. Other users never have any rights.
  return fchmodat(AT_FDCWD, address.sun_path, S_IRUSR | S_IWUSR, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

}  // namespace ringside
