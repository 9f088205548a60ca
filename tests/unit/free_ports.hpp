// SPDX-License-Identifier: BSD-3-Clause
// Ports and addresses of 127.0.0.1 for servers that a test starts, and connections to them.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <random>

#include "common/platform/unique_fd.hpp"

namespace ringside::testing {

inline sockaddr_in loopback(int port, in_addr_t address = INADDR_LOOPBACK) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_addr.s_addr = htonl(address);
  made.sin_port = htons(static_cast<std::uint16_t>(port));
  return made;
}

/// Returns whether `fd`, a TCP socket, is now connected to this port.
inline bool connect_to(int fd, int port, in_addr_t address = INADDR_LOOPBACK) {
  const sockaddr_in to = loopback(port, address);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

/// Returns a socket that is connected to this port.
inline UniqueFd connected(int port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_TRUE(connect_to(fd.get(), port)) << errno;
  return fd;
}

/// Returns the first of two consecutive ports of 127.0.0.1 that no process uses. The ports are below 32768, because the
/// kernel (by default) gives ports from 32768 on to outgoing connections, so that such a port could be in use before
/// the test uses it. The ports are chosen at random, so that tests that run at the same time do not try the same ones.
inline int free_ports() {
  const auto is_free = [](int port) {
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  };
  std::random_device chance;
  for (;;) {
    const int port = 20000 + 2 * static_cast<int>(chance() % 6000);
    if (is_free(port) && is_free(port + 1)) return port;
  }
}

}  // namespace ringside::testing
