// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/new_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"
#include "common/text/formatted.hpp"

namespace ringside {
namespace {

constexpr int kAttempts = 100;

/// Calls `take` with names similar to `path` until `take` accepts one. Returns that name, or an empty string with errno
/// set.
template <typename Take>
std::string take_name_beside(const std::string& path, const Take& take) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = path + "." + to_string(random_id()).substr(0, 6);
    if (take(name)) return name;
    if (errno != EEXIST) break;
  }
  return {};
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

UniqueFd make_nameless_file(const std::string& path, mode_t mode) {
  return UniqueFd(open(folder_of(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
}

bool give_name(int fd, const std::string& path) {
  const std::string nameless = formatted("/proc/self/fd/{}", fd);
  return linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

int sync_folder_of(const std::string& path) {
  const UniqueFd folder(open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return errno == EACCES ? 0 : errno;
  return fsync(folder.get()) == 0 || errno == EINVAL ? 0 : errno;
}

bool remove_file(const std::string& path) {
  if (unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return false;
    throw system_error("{}: cannot be deleted ({})", path, errno_text(errno));
  }
  if (const int error = sync_folder_of(path)) {
    throw system_error("{}: was deleted, but its folder cannot be synced ({})", path, errno_text(error));
  }
  return true;
}

UniqueFd make_vanishing_file(const std::string& folder, const std::string& name) {
  UniqueFd file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kPrivateMode));
  if (file.valid() || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string path = folder + "/" + name + "-XXXXXX";
  file.reset(mkostemp(path.data(), O_CLOEXEC));
  if (file.valid()) unlink(path.c_str());
  return file;
}

NewFile::NewFile(std::string path, mode_t mode, Until until_published) : path_(std::move(path)) {
  if (until_published == Until::kNameless && access("/proc/self/fd", X_OK) == 0) fd_ = make_nameless_file(path_, mode);
  if (fd_.valid()) return;
  beside_ = take_name_beside(path_, [&](const std::string& name) {
    fd_.reset(open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    return fd_.valid();
  });
}

NewFile::~NewFile() {
  if (!beside_.empty()) unlink(beside_.c_str());
}

int NewFile::publish() {
  if (fsync(fd_.get()) != 0) return errno;
  // Only a rename replaces a file, and only a file with a name can be renamed.
  if (beside_.empty()) {
    beside_ = take_name_beside(path_, [&](const std::string& name) { return give_name(fd_.get(), name); });
  }
  if (beside_.empty() || rename(beside_.c_str(), path_.c_str()) != 0) return errno;
  beside_.clear();
  return 0;
}

}  // namespace ringside
