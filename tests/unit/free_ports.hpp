// SPDX-License-Identifier: BSD-3-Clause
// Ports for servers that a test starts.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <random>

#include "common/platform/unique_fd.hpp"

namespace ringside::testing {

/// Returns the first of two consecutive ports of 127.0.0.1 that no process uses. The ports are below 32768, because the
/// kernel (by default) gives ports from 32768 on to outgoing connections, so that such a port could be in use before
/// the test uses it. The ports are chosen at random, so that tests that run at the same time do not try the same ones.
inline int free_ports() {
  const auto is_free = [](int port) {
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  };
  std::random_device chance;
  for (;;) {
    const int port = 20000 + 2 * static_cast<int>(chance() % 6000);
    if (is_free(port) && is_free(port + 1)) return port;
  }
}

}  // namespace ringside::testing
