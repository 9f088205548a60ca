// SPDX-License-Identifier: BSD-3-Clause
// Checks who owns the file to which the name of a pool or a journal leads. The owner of a file may read what is written
// to the file. In a folder to which other users may write, such as /tmp, a name can lead to another user's file,
// another user's link, or an unintended second name of the user's own file. Writers check the owner before every
// access; readers need not check it.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace ringside {

/// The choice that `--foreign-pool` makes.
enum class Foreign { kRefused, kAllowed };

/// Throws Error (exit code 3, naming --foreign-pool) unless the file belongs to the effective user and has only one
/// name. file: the result of lstat; or of fstat for an open file, which makes sure that the checked file is the one
/// that will be written.
void refuse_foreign_file(const struct stat& file, const std::string& name);

/// Throws Error (exit code 3, naming --foreign-pool) if a symbolic link in `path`, or `path` itself, belongs to a user
/// other than the effective user or root.
void refuse_foreign_links(const std::filesystem::path& path);
/// Checks `path` in the same way. Also throws if `path` no longer leads to `opened`, the file that was opened by it.
void refuse_foreign_links(const std::filesystem::path& path, const struct stat& opened);

}  // namespace ringside
