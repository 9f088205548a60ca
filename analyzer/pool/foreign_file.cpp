// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/foreign_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <deque>
#include <optional>
#include <system_error>
#include <utility>

#include "common/platform/error.hpp"
#include "common/platform/names.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the same as the kernel's limit

/// Follows the path part by part. Each part is opened in the folder reached so far, without following links. So the
/// part that is checked is the part that is used, even if another process exchanges names at the same time. The result
/// is empty if the path leads to no file; the caller's open reports this.
std::optional<struct stat> follow(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  std::deque<fs::path> ahead(absolute.begin(), absolute.end());
  const auto enter = [](int folder, const char* part) {
    return UniqueFd(openat(folder, part, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  };
  UniqueFd reached = enter(AT_FDCWD, "/");
  fs::path named = "/";  // the path so far, for messages
  for (int links = 0; !ahead.empty() && links <= kMostLinks;) {
    const fs::path part = ahead.front();
    ahead.pop_front();
    if (part.empty() || part == "." || part == "/") continue;
    UniqueFd next = enter(reached.get(), part.c_str());
    struct stat status {};
    if (!next.valid() || fstat(next.get(), &status) != 0) return std::nullopt;
    if (!S_ISLNK(status.st_mode)) {
      reached = std::move(next);
      named = part == ".." ? named.parent_path() : named / part;
      continue;
    }
    if (status.st_uid != geteuid() && status.st_uid != 0) {
      throw system_error(
          "{}: the symbolic link '{}' belongs to {}, who can point it elsewhere; this process runs as {}; expected "
          "links of this user or root, or --foreign-pool",
          path.string(), (named / part).string(), user_name(status.st_uid), user_name(geteuid()));
    }
    ++links;
    std::string target(PATH_MAX, '\0');
    const ssize_t length = readlinkat(next.get(), "", target.data(), target.size());
    if (length <= 0) return std::nullopt;
    target.resize(static_cast<std::size_t>(length));
    if (target.front() == '/') {
      reached = enter(AT_FDCWD, "/");
      named = "/";
    }
    const fs::path rest(target);
    ahead.insert(ahead.begin(), rest.begin(), rest.end());
  }
  struct stat status {};
  if (!ahead.empty() || fstat(reached.get(), &status) != 0) return std::nullopt;
  return status;
}

}  // namespace

void refuse_foreign_file(const struct stat& file, const std::string& name) {
  if (file.st_uid != geteuid()) {
    throw system_error(
        "{}: the file belongs to {}, who can read what is written to it; this process runs as {}; expected a file of "
        "this user, or --foreign-pool",
        name, user_name(file.st_uid), user_name(geteuid()));
  }
  if (file.st_nlink > 1) {
    throw system_error(
        "{}: has {} names (hard links), and another of them may be the intended file; expected one name, or "
        "--foreign-pool",
        name, file.st_nlink);
  }
}

void refuse_foreign_links(const fs::path& path) {
  (void)follow(path);
}

void refuse_foreign_links(const fs::path& path, const struct stat& opened) {
  const std::optional<struct stat> found = follow(path);
  if (found && found->st_dev == opened.st_dev && found->st_ino == opened.st_ino) return;
  throw system_error(
      "{}: the path now leads to another file than a moment ago; expected a path that does not change, or "
      "--foreign-pool",
      path.string());
}

}  // namespace ringside
