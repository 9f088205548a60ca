// SPDX-License-Identifier: BSD-3-Clause
// The files that no output may replace, no matter what their names are and which links lead to them: a file that the
// same command reads or keeps, and any pool, journal or matrix cache, recognised by its first bytes.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

namespace ringside {

/// A file that a command reads, or keeps under a name other than the output's name. The file need not exist yet.
struct KeptFile {
  std::string role;  // the user's name for it: "--matrix", "--pool", "the journal of --pool"
  std::string path;  // empty if there is no such file
};

/// Whether both names lead to one file (device and inode), or will lead to one file once that is made.
bool same_file(const std::string& a, const std::string& b);

/// Throws Error, whose message begins with `option`. Exit code 2: `path` leads to one of `kept`, to a pool, a journal
/// or a matrix cache, or has the name that the journal of a pool in the same folder would have. Exit code 3: `path`
/// leads to one of these:
/// - a file that cannot be inspected;
/// - a file that another process is making (empty or zeros, and locked);
/// - a folder or a socket;
/// - a link or named pipe that another user has made in a folder where anyone may make files. (The kernel refuses these
/// if fs.protected_symlinks is on; this function always refuses them.)
void refuse_output(const std::string& path, const std::string& option, const std::vector<KeptFile>& kept);

}  // namespace ringside
