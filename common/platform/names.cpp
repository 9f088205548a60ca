// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/names.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "common/platform/error.hpp"
#include "common/text/formatted.hpp"

namespace ringside {

std::string host_name() {
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0)
    throw system_error("cannot read this node's name: {}", errno_text(errno));
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

std::string user_name(uid_t uid) {
  constexpr std::size_t kEntryBytes = 16384;  // the usual buffer size for getpwuid_r
  std::vector<char> buffer(kEntryBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return formatted("user {}", uid);
  }
  return formatted("user {}", found->pw_name);
}

}  // namespace ringside
