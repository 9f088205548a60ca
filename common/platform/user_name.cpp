// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/user_name.hpp"

#include <pwd.h>

#include <vector>

#include "common/text/formatted.hpp"

namespace ringside {

std::string user_name(uid_t uid) {
  constexpr std::size_t kEntryBytes = 16384;  // the usual size for getpwuid_r
  std::vector<char> buffer(kEntryBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return formatted("user {}", uid);
  }
  return formatted("user {}", found->pw_name);
}

}  // namespace ringside
