// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/owner_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

namespace ringside {

int bind_for_owner(int socket, const sockaddr_un& address) noexcept {
  // On Linux the file gets the socket's own mode, less the umask.
  if (fchmod(socket, S_IRUSR | S_IWUSR) != 0) return errno;
  return bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

}  // namespace ringside
