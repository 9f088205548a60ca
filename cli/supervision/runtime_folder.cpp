// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/runtime_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/files/regular_file.hpp"
#include "common/files/standard_streams.hpp"
#include "common/handoff/peer.hpp"
#include "common/platform/error.hpp"
#include "common/platform/process.hpp"
#include "common/ranks/node_address.hpp"
#include "common/reductions/plug_ins/plug_in_notes.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr char kPattern[] = "ringside-XXXXXX";
constexpr std::string_view kPrefix = "ringside-";
static_assert(sizeof kPattern - 1 == kPrefix.size() + RuntimeFolder::kNameLetters);
constexpr char kSocket[] = "analyzer.socket";

/// The variables that name the folder for temporary files; the first one that is set is used, as in
/// fs::temp_directory_path().
constexpr const char* kTemporaryVariables[] = {"TMPDIR", "TMP", "TEMP", "TEMPDIR"};

/// The name of the variable, and the folder that it names. The path is absolute, so that processes with other working
/// folders find the folder.
std::pair<std::string, fs::path> temporary_base() {
  for (const char* name : kTemporaryVariables) {
    if (const char* folder = environment_value(name)) {
      std::error_code error;
      const fs::path absolute = fs::absolute(folder, error);
      return {name, error ? fs::path(folder) : absolute};
    }
  }
  return {"TMPDIR", "/tmp"};
}

/// The greatest length of a `base` below which the paths of all sockets of a run still fit.
std::size_t longest_base() {
  const std::size_t suffix = std::ranges::max(Listener::kSocketSuffixes, {}, &std::string_view::size).size();
  return sizeof(sockaddr_un::sun_path) - 1 - suffix - std::strlen(kGlobalSuffix) - std::strlen(kSocket) -
         std::strlen(kPattern) - 2;  // two slashes
}

/// The reason why `base` cannot contain a folder for sockets, as an errno value; 0 if no reason is known.
int obstacle_in(const fs::path& base) {
  if (base.native().size() > longest_base()) return ENAMETOOLONG;
  return access(base.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

/// Whether the file system reports that it is full. Only creating a folder would prove that there is room, but a search
/// for folders creates none.
bool is_full(const fs::path& base) {
  struct statvfs status {};
  if (statvfs(base.c_str(), &status) != 0) return false;
  return status.f_bavail == 0 || (status.f_files != 0 && status.f_favail == 0);
}

/// The folders that may contain a run's folder; the first one in which a run's folder can be created is used. The XDG
/// Base Directory Specification requires that a relative XDG_RUNTIME_DIR is ignored. A batch system's TMPDIR may be
/// missing, full, or too long for a socket's path: then one of the last two folders is used.
std::vector<fs::path> bases() {
  std::vector<fs::path> bases;
  if (const char* runtime = environment_value("XDG_RUNTIME_DIR"); runtime != nullptr && *runtime == '/') {
    bases.emplace_back(runtime);
  }
  for (const fs::path& base : {temporary_base().second, fs::path("/tmp"), fs::path("/var/tmp")}) {
    if (std::ranges::find(bases, base) == bases.end()) bases.push_back(base);
  }
  return bases;
}

std::string why_not(int error) {
  if (error == ENAMETOOLONG) return fmt::format("its path has more than {} bytes", longest_base());
  return errno_text(error);
}

std::vector<fs::path> folders_in(const fs::path& base) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(base, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.size() == sizeof kPattern - 1) found.push_back(entry.path());
  }
  return found;
}

UniqueFd locked(UniqueFd fd) {
  if (fd.valid() && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

/// The locked folder at `path`. Invalid if the folder does not exist, or if another process holds its lock. Any user
/// may create a file with such a name; O_DIRECTORY refuses a named pipe, because opening a pipe would wait for a
/// writer.
UniqueFd locked_folder(const fs::path& path) {
  return locked(UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
}

/// The locked file at `path`. Invalid if the file does not exist, or if another process holds its lock.
UniqueFd locked_file(const fs::path& path) {
  return locked(std::move(open_regular(path.string(), O_RDONLY | O_NOFOLLOW).fd));
}

/// Removes our files in `folder`, then the folder itself unless it contains other files.
void remove_folder(const fs::path& folder) {
  const fs::path socket = folder / kSocket;
  unlink(socket.c_str());
  for (const std::string_view suffix : Listener::kSocketSuffixes) {
    unlink(fs::path(socket).concat(suffix).c_str());
    unlink(fs::path(socket).concat(kGlobalSuffix).concat(suffix).c_str());
  }
  unlink(fs::path(socket).concat(Listener::kLockSuffix).c_str());
  unlink(fs::path(socket).concat(kPlugInNotesSuffix).c_str());
  unlink(fs::path(socket).concat(kNodeAddressSuffix).c_str());
  rmdir(folder.c_str());
}

/// Removes the folders of killed runs: folders that are old enough to be complete, and for which no process holds the
/// lock of the folder or of its analyzer.
void remove_abandoned(const fs::path& base) {
  constexpr std::time_t kYoungS = 60;
  for (const fs::path& folder : folders_in(base)) {
    const UniqueFd lock = locked_folder(folder);
    struct stat status {};
    if (!lock.valid() || fstat(lock.get(), &status) != 0) continue;
    if (status.st_uid != geteuid() || std::time(nullptr) - status.st_ctime < kYoungS) continue;
    const fs::path analyzer_lock = (folder / kSocket).concat(Listener::kLockSuffix);
    std::error_code ignored;
    if (!fs::exists(analyzer_lock, ignored) || locked_file(analyzer_lock).valid()) remove_folder(folder);
  }
}

/// The path of the folder with this name, in the first base in which it can be created. The path is the same for all
/// processes of a user on a node.
std::string folder_named(const std::string& name) {
  const std::vector<fs::path> all = bases();
  for (const fs::path& base : all) {
    if (obstacle_in(base) == 0) return (base / (std::string(kPrefix) + name)).string();
  }
  return (all.back() / (std::string(kPrefix) + name)).string();
}

/// Prints a warning that the folder that the variable names was not used. error: the reason.
void tell_other_base(const fs::path& base, int error) {
  const auto [name, folder] = temporary_base();
  write_standard_error(
      fmt::format("ringside: warning: {}: the folder for the sockets cannot be in '{}' ({}); it is in {}\n", name,
                  shortened(folder.string()), why_not(error), base.string()));
}

}  // namespace

RuntimeFolder::RuntimeFolder() {
  const auto [name, named] = temporary_base();
  int error_there = 0;
  int error = 0;
  for (const fs::path& base : bases()) {
    remove_abandoned(base);
    if (try_under(base)) {
      if (error_there != 0) tell_other_base(base, error_there);
      return;
    }
    error = errno;
    if (base == named) error_there = error;
  }
  throw system_error(
      "{}: no folder for the sockets can be made in '{}' ({}), nor in /tmp or /var/tmp ({}); expected a writable "
      "folder with a path of at most {} bytes",
      name, shortened(named.string()), why_not(error_there), why_not(error), longest_base());
}

RuntimeFolder::RuntimeFolder(const std::string& name) : path_(folder_named(name)) {
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) {
    throw system_error("cannot make the folder '{}' for the socket: {}", path_, errno_text(errno));
  }
  lock_ = locked_folder(path_);
  struct stat status {};
  if (!lock_.valid() || fstat(lock_.get(), &status) != 0 || status.st_uid != geteuid()) {
    throw system_error("'{}': found a folder in use by another process or user, expected none, or one of this user",
                       path_);
  }
  const fs::path base = fs::path(path_).parent_path();
  const fs::path named = temporary_base().second;
  if (base != bases().front() && base != named) tell_other_base(base, obstacle_in(named));
}

std::string RuntimeFolder::socket_named(const std::string& name) {
  return folder_named(name) + "/" + kSocket;
}

RuntimeFolder::~RuntimeFolder() {
  remove_folder(path_);
}

std::string RuntimeFolder::socket() const {
  return path_ + "/" + kSocket;
}

bool RuntimeFolder::try_under(const fs::path& base) {
  errno = obstacle_in(base);
  if (errno != 0) return false;
  path_ = (base / kPattern).string();
  if (mkdtemp(path_.data()) == nullptr) return false;
  lock_ = locked_folder(path_);
  return true;
}

std::vector<std::string> sockets_of_runs(Reach reach) {
  std::vector<std::string> found;
  const fs::path named = temporary_base().second;
  const bool is_passed_over = obstacle_in(named) != 0 || is_full(named);
  for (const fs::path& base : bases()) {
    for (const fs::path& folder : folders_in(base)) found.push_back((folder / kSocket).string());
    if (base == named && reach == Reach::kOwn && !is_passed_over) break;
  }
  return found;
}

}  // namespace ringside
