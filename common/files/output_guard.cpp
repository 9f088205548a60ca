// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/output_guard.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "common/files/creation_mark.hpp"
#include "common/files/lock_holder.hpp"
#include "common/files/new_file.hpp"
#include "common/files/own_descriptor.hpp"
#include "common/files/regular_file.hpp"
#include "common/platform/error.hpp"
#include "common/platform/names.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using std::string_view_literals::operator""sv;

struct Signature {
  std::string_view bytes;
  const char* what;
};

// The formats' own constants cannot be included here; tests/unit/common/files/output_guard_test.cpp checks a file of
// each format.
constexpr std::size_t kSignatureBytes = 16;  // the length of the longest signature
constexpr Signature kSignatures[] = {
    {"PMEMOBJ\0"sv, "a pool, whose iterates would be lost"},
    {"PMEMLOG\0"sv, "a journal, whose records would be lost"},
    {"RSJRNL01"sv, "a journal, whose records would be lost"},
    {"RSMATRIX"sv, "a matrix cache"},
    {"{\"ringside_ranks"sv, "a ranks file, without which the rings of several nodes cannot be read as one"},
};

/// The kind of protected file that begins with these bytes; nullptr for any other file.
const char* content_of(std::string_view begin) {
  const auto* const found = std::find_if(std::begin(kSignatures), std::end(kSignatures),
                                         [&](const Signature& signature) { return begin.starts_with(signature.bytes); });
  return found == std::end(kSignatures) ? nullptr : found->what;
}

/// The file's first bytes, at most as many as the longest signature has.
std::string beginning_of(const RegularFile& file) {
  std::string begin(kSignatureBytes, '\0');
  const ssize_t bytes = pread(file.fd.get(), begin.data(), begin.size(), 0);
  begin.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  return begin;
}

/// Whether another process is making a pool or a journal here: the file is empty or zeros, and locked or marked by its
/// creator. A lock on a file with other content, or a lock that this process holds, was taken by a user (flock(1)).
bool is_being_made_elsewhere(const RegularFile& file, const std::string& begin) {
  if (begin.find_first_not_of('\0') != std::string::npos || holds_flock_itself(file.status)) return false;
  return is_being_made(file.fd.get()) || flock_holder(file.status);
}

/// The file that a name leads to, whether it exists or not. Follows links, also links to files that do not exist.
fs::path destination(const std::string& name) {
  constexpr int kMostLinks = 40;  // the kernel's limit
  std::error_code error;
  fs::path path = fs::absolute(name, error);
  for (int links = 0; links < kMostLinks && fs::is_symlink(fs::symlink_status(path, error)); ++links) {
    const fs::path target = fs::read_symlink(path, error);
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  const fs::path folder = fs::weakly_canonical(path.parent_path(), error);
  return (error ? path.parent_path() : folder) / path.filename();
}

/// The kind of file that has this name beside a pool, or nullptr. The name is checked because a journal without
/// records, or with damaged first bytes, has no signature.
const char* named_beside_a_pool(const fs::path& path) {
  const std::string name = path.string();
  for (const std::string_view ending : {".journal-0"sv, ".journal-1"sv, ".ranks"sv}) {
    if (!name.ends_with(ending)) continue;
    const RegularFile pool = open_regular(name.substr(0, name.size() - ending.size()), O_RDONLY);
    if (!pool.valid() || content_of(beginning_of(pool)) != kSignatures[0].what) return nullptr;
    return ending == ".ranks"sv ? "ranks file" : "journal";
  }
  return nullptr;
}

/// Refuses a link or a pipe that another user has put into a folder like /tmp.
void refuse_foreign_link_or_pipe(const std::string& path, const std::string& option) {
  struct stat found {};
  struct stat folder {};
  if (lstat(path.c_str(), &found) != 0 || (!S_ISLNK(found.st_mode) && !S_ISFIFO(found.st_mode))) return;
  if (stat(folder_of(path).c_str(), &folder) != 0 || (folder.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH))
    return;
  if (found.st_uid == geteuid() || found.st_uid == folder.st_uid) return;
  throw system_error("{}: '{}' is a {} made by {} in a folder that everybody can write to; expected another name",
                     option, path, kind_of(found.st_mode), user_name(found.st_uid));
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  struct stat one {};
  struct stat other {};
  const bool both = stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0;
  if (both) return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  return destination(a) == destination(b);
}

void refuse_output(const std::string& path, const std::string& option, const std::vector<KeptFile>& kept) {
  if (is_standard_output(path)) {  // a terminal, a pipe or a socket has no content to lose
    struct stat open {};
    const bool is_file = fstat(STDOUT_FILENO, &open) == 0 && S_ISREG(open.st_mode);
    if (is_file) refuse_output("/proc/self/fd/1", option, kept);
    return;
  }
  for (const KeptFile& file : kept) {
    if (!same_file(path, file.path)) continue;
    throw usage_error("{}: '{}' is also {}; expected another file", option, path, file.role);
  }
  refuse_foreign_link_or_pipe(path, option);
  if (const char* const what = named_beside_a_pool(destination(path))) {
    throw usage_error("{}: '{}' is the name of a pool's {}; expected another file", option, path, what);
  }
  const RegularFile there = open_regular(path, O_RDONLY);
  if (there.kind == kind_of(S_IFDIR) || there.kind == kind_of(S_IFSOCK)) {
    throw system_error("{}: cannot write '{}': {}; expected a file", option, path, there.why());
  }
  if (!there.valid() && (!there.kind.empty() || there.error == ENOENT || there.error == ENOTDIR)) return;
  if (!there.valid()) {
    throw system_error("{}: cannot write '{}': the file there cannot be inspected: {}; expected a file of this user",
                       option, path, there.why());
  }
  const std::string begin = beginning_of(there);
  if (const char* const what = content_of(begin)) {
    throw usage_error("{}: '{}' is {}; expected another file", option, path, what);
  }
  if (is_being_made_elsewhere(there, begin)) {
    throw system_error("{}: cannot write '{}': it is in use by {}; expected another file", option, path,
                       describe_holder(flock_holder(there.status)));
  }
}

}  // namespace ringside
