// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/host_name.hpp"

#include <unistd.h>

#include <cerrno>

#include "common/platform/error.hpp"

namespace ringside {

std::string host_name() {
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) throw system_error("cannot read this node's name: {}", errno_text(errno));
  return host;
}

std::string with_host(const std::string& text) {
  std::string found = text;
  for (std::size_t at = found.find("%h"); at != std::string::npos;) {
    const std::string host = host_name();
    found.replace(at, 2, host);
    at = found.find("%h", at + host.size());
  }
  return found;
}

}  // namespace ringside
