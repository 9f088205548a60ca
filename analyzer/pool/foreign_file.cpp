// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/foreign_file.hpp"

#include <unistd.h>

#include <deque>
#include <system_error>

#include "common/platform/error.hpp"
#include "common/platform/user_name.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the kernel follows as many

}  // namespace

void refuse_foreign_file(const struct stat& file, const std::string& name) {
  if (file.st_uid != geteuid()) {
    throw system_error(
        "{}: belongs to {}, who may read what is written to it; this is {}; expected a file of this user's own, or "
        "--foreign-pool",
        name, user_name(file.st_uid), user_name(geteuid()));
  }
  if (file.st_nlink > 1) {
    throw system_error(
        "{}: is a file with {} names (hard links), of which another one may be meant; expected a file with one name, "
        "or --foreign-pool",
        name, file.st_nlink);
  }
}

void refuse_foreign_links(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  std::deque<fs::path> ahead(absolute.begin(), absolute.end());
  fs::path reached = "/";
  for (int links = 0; !ahead.empty() && links <= kMostLinks;) {
    const fs::path part = ahead.front();
    ahead.pop_front();
    if (part == "..") reached = reached.parent_path();
    if (part.empty() || part == "." || part == ".." || part == "/") continue;
    const fs::path next = reached / part;
    struct stat status {};
    if (lstat(next.c_str(), &status) != 0) return;  // the caller's open reports the reason
    if (!S_ISLNK(status.st_mode)) {
      reached = next;
      continue;
    }
    if (status.st_uid != geteuid() && status.st_uid != 0) {
      throw system_error(
          "{}: the symbolic link '{}' belongs to {}, who may point it elsewhere; this is {}; expected links of this "
          "user's or root's own, or --foreign-pool",
          path.string(), next.string(), user_name(status.st_uid), user_name(geteuid()));
    }
    ++links;
    const fs::path target = fs::read_symlink(next, error);
    if (target.is_absolute()) reached = "/";
    ahead.insert(ahead.begin(), target.begin(), target.end());
  }
}

}  // namespace ringside
