// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/output_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/files/direct_file.hpp"
#include "common/files/new_file.hpp"
#include "common/files/output_file.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFolderMode = 0750;  // like kOutputMode, but for folders
constexpr std::string_view kMark = ".ringside-";

/// `path` without slashes at its end: with them, folder_of would return the folder itself.
std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

UniqueFd open_folder(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

void remove_tree(const std::string& path) noexcept {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

/// Removes the unfinished folders of killed processes, which are no longer locked.
void remove_left_over(const std::string& path) noexcept {
  const std::string prefix = "." + last_part(path) + std::string(kMark);
  std::error_code error;
  std::vector<std::string> found;
  for (fs::directory_iterator it(folder_of(path), error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(prefix)) found.push_back(it->path().string());
  }
  for (const std::string& one : found) {
    const UniqueFd folder = open_folder(one);
    struct stat status {};
    if (!folder.valid() || fstat(folder.get(), &status) != 0 || status.st_uid != geteuid()) continue;
    if (flock(folder.get(), LOCK_EX | LOCK_NB) == 0) remove_tree(one);
  }
}

/// Returns 0, or an errno value.
int sync_by_name(const std::string& path, int flags) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | flags));
  if (!fd.valid()) return errno;
  return fsync(fd.get()) == 0 || errno == EINVAL ? 0 : errno;
}

}  // namespace

void check_output_folder(const std::string& path, const std::string& option, const std::string& what,
                         const std::vector<KeptFile>& kept) {
  const std::string name = without_slash(path);
  struct stat status {};
  if (lstat(name.c_str(), &status) == 0) {
    if (S_ISREG(status.st_mode)) refuse_output(name, option, kept);
    std::error_code error;
    if (!S_ISDIR(status.st_mode) || !fs::is_empty(name, error) || error) {
      throw usage_error("{}: '{}' exists already, and {} does not replace it; remove it, or give another name", option,
                        name, what);
    }
  }
  if (faccessat(AT_FDCWD, folder_of(name).c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    throw system_error("{}: cannot write '{}': {}; expected {} in a writable folder", option, name, errno_text(errno),
                       what);
  }
}

OutputFolder::OutputFolder(std::string path, std::string option, std::string what, std::vector<KeptFile> kept)
    : path_(without_slash(std::move(path))),
      option_(std::move(option)),
      what_(std::move(what)),
      kept_(std::move(kept)) {
  check_output_folder(path_, option_, what_, kept_);
  remove_left_over(path_);
  const std::string above = folder_of(path_);
  const std::string prefix = (above == "/" ? "/." : above + "/.") + last_part(path_) + std::string(kMark);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = prefix + to_string(random_id()).substr(0, 6);
    if (mkdir(name.c_str(), kFolderMode) != 0) {
      if (errno == EEXIST) continue;
      fail(path_, errno);
    }
    UniqueFd folder = open_folder(name);
    // Another process may have removed the folder as an abandoned one before it was locked.
    if (folder.valid() && flock(folder.get(), LOCK_EX | LOCK_NB) == 0 && access(name.c_str(), W_OK) == 0) {
      beside_ = name;
      lock_ = std::move(folder);
      return;
    }
  }
  fail(path_, EEXIST);
}

OutputFolder::~OutputFolder() {
  if (!beside_.empty()) remove_tree(beside_);
}

void OutputFolder::fail(const std::string& name, int error) const {
  throw system_error("{}: cannot write '{}': {}", option_, name, errno_text(error));
}

void OutputFolder::make_folders(const std::string& name) {
  for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    const std::string folder = name.substr(0, slash);
    if (std::find(folders_.begin(), folders_.end(), folder) != folders_.end()) continue;
    if (mkdir((beside_ + "/" + folder).c_str(), kFolderMode) != 0) fail(path_ + "/" + folder, errno);
    folders_.push_back(folder);
  }
}

void OutputFolder::write(const std::string& name, std::span<const std::span<const std::byte>> parts) {
  make_folders(name);
  const UniqueFd file(
      open((beside_ + "/" + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kOutputMode));
  if (!file.valid()) fail(path_ + "/" + name, errno);
  DirectFile direct(file.get());
  std::uint64_t offset = 0;
  for (const std::span<const std::byte> part : parts) {
    if (const int error = direct.write(offset, part)) fail(path_ + "/" + name, error);
    offset += part.size();
  }
  // Starts to write the rest to the disk; publish waits for it.
  sync_file_range(file.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
}

void OutputFolder::write(const std::string& name, std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text.data(), text.size()));
  write(name, std::span(&bytes, 1));
}

void OutputFolder::remove(const std::string& name) {
  if (unlink((beside_ + "/" + name).c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    fail(path_ + "/" + name, errno);
  }
}

void OutputFolder::publish() {
  std::error_code error;
  for (fs::recursive_directory_iterator it(beside_, error), end; !error && it != end; it.increment(error)) {
    const bool folder = it->is_directory(error);
    if (const int failed = sync_by_name(it->path().string(), folder ? O_DIRECTORY : 0)) fail(path_, failed);
  }
  if (error) fail(path_, error.value());
  if (const int failed = sync_by_name(beside_, O_DIRECTORY)) fail(path_, failed);
  // rename fails if the name has been taken meanwhile, unless it is now the name of an empty folder.
  if (rename(beside_.c_str(), path_.c_str()) != 0) fail(path_, errno);
  beside_.clear();
  if (const int failed = sync_folder_of(path_)) fail(path_, failed);
}

void OutputFolder::withdraw() noexcept {
  if (beside_.empty()) remove_tree(path_);
}

}  // namespace ringside
