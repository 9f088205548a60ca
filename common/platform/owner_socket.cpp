// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/owner_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

namespace ringside {

int bind_for_owner(int socket, const sockaddr_un& address) noexcept {
  // On Linux the file gets the socket's own mode, less the umask.
  if (fchmod(socket, S_IRUSR | S_IWUSR) != 0) return errno;
  if (bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return errno;
  struct stat made {};
  if (address.sun_path[0] == '\0' || lstat(address.sun_path, &made) != 0 || (made.st_mode & ALLPERMS) == (S_IRUSR | S_IWUSR)) return 0;
  // A umask that denies the owner something: nobody else may have more meanwhile.
  return fchmodat(AT_FDCWD, address.sun_path, S_IRUSR | S_IWUSR, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

}  // namespace ringside
