// SPDX-License-Identifier: BSD-3-Clause
// A file that appears under its name only when it is complete and on its disk: after a crash, a kill or a power cut,
// the name leads either to the old file or to the complete new one. Where the file system supports it (O_TMPFILE), the
// file has no name until then, and a killed process leaves no file behind.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/platform/unique_fd.hpp"

namespace ringside {

inline constexpr mode_t kPrivateMode = 0600;  // for files that only the owner's programs read: a pool, a cache

/// The folder of the file `path`, without a slash at its end; "." for a bare name.
std::string folder_of(const std::string& path);

/// A file in the folder of `path` that has no name. If it cannot be made, the result is invalid and errno is set.
UniqueFd make_nameless_file(const std::string& path, mode_t mode);

/// Gives a nameless file the name `path`. If that fails, returns false and sets errno (EEXIST: the name is taken).
bool give_name(int fd, const std::string& path);

/// Makes the names of files in the folder of `path` survive a power cut. Returns 0, or an errno value. A folder counts
/// as synced if this process may write but not read it, or if its file system needs no sync.
int sync_folder_of(const std::string& path);

/// Deletes a file, and makes this survive a power cut. Returns whether there was such a file. Throws Error (exit code
/// 3).
bool remove_file(const std::string& path);

/// Makes a file in `folder` that disappears when its descriptor is closed. If the file cannot be made, the descriptor
/// is invalid, and errno is set. name: for file systems where every file has a name.
UniqueFd make_vanishing_file(const std::string& folder, const std::string& name);

class NewFile {
 public:
  /// kNamed is for a library that opens files by name. A file with a name remains if the process is killed.
  enum class Until { kNameless, kNamed };

  /// Makes the file and opens it for reading and writing. If that fails, fd() is invalid and errno is set. The
  /// permissions of the file are at most `mode`.
  NewFile(std::string path, mode_t mode, Until until_published = Until::kNameless);
  /// Removes a file that was not published.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const UniqueFd& fd() const noexcept { return fd_; }
  /// The file's name until it is published; empty if it has none.
  const std::string& name_beside() const noexcept { return beside_; }

  /// Syncs the file and gives it its name. An existing file of that name is replaced. Returns 0, or an errno value.
  int publish();

 private:
  const std::string path_;
  std::string beside_;  // the file's name until it is published; empty if it has none
  UniqueFd fd_;
};

}  // namespace ringside
