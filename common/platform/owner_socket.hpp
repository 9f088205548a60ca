// SPDX-License-Identifier: BSD-3-Clause
// Sockets in the file system for their owner only, from the first moment on. The umask, by which this is mostly done, is
// the whole process's: files that other threads create meanwhile would get other rights.
#pragma once

#include <sys/un.h>

namespace ringside {

/// Binds a socket of the Unix domain, without listening; its file has mode 0600. Returns errno's value, 0: done.
int bind_for_owner(int socket, const sockaddr_un& address) noexcept;

}  // namespace ringside
