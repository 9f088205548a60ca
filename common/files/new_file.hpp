// SPDX-License-Identifier: BSD-3-Clause
// A file that appears under its name only when it is complete and on its disk: after a crash, a kill or a power cut,
// the old file or the new one is there. Where the file system supports it (O_TMPFILE), the file has no name until
// then, and a process that is killed leaves nothing.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/platform/unique_fd.hpp"

namespace ringside {

/// The folder of the file `path`, without a slash at its end; "." for a bare name.
std::string folder_of(const std::string& path);

/// A file in the folder of `path` that has no name. Invalid, with errno set, if it cannot be made.
UniqueFd make_nameless_file(const std::string& path, mode_t mode);

/// Gives a nameless file the name `path`. False, with errno set, if that fails; EEXIST: the name is taken.
bool give_name(int fd, const std::string& path);

/// Makes the names of files in the folder of `path` survive a power cut. Returns 0, or an errno value. A folder that
/// may be written but not read, or whose file system needs no sync, counts as synced.
int sync_folder_of(const std::string& path);

class NewFile {
 public:
  /// kNamed is for a library that opens files by name. A killed process then leaves the file there.
  enum class Until { kNameless, kNamed };

  /// Makes the file, open for reading and writing; if that fails, fd() is invalid and errno holds the reason. Its
  /// permissions are at most `mode`.
  NewFile(std::string path, mode_t mode, Until until_published = Until::kNameless);
  /// Removes a file that was not published.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const UniqueFd& fd() const noexcept { return fd_; }
  /// Its name until it is published; empty: none.
  const std::string& name_beside() const noexcept { return beside_; }

  /// Syncs the file and gives it its name, replacing any file of that name. Returns 0, or an errno value.
  int publish();

 private:
  const std::string path_;
  std::string beside_;  // its name until it is published; empty: none
  UniqueFd fd_;
};

}  // namespace ringside
