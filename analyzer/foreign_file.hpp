// Whose file a pool's or a journal's name stands for. The owner of a file may read what is written to it; and in a
// folder that others may write to, such as /tmp, a name can be another user's file, another user's link, or a second
// name of a file of one's own that is not meant. Asked before anything is written; readers need not ask.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace ringside {

/// What `--foreign-pool` decides.
enum class Foreign { kRefused, kAllowed };

/// Throws Error (exit code 3, naming --foreign-pool) unless the file belongs to the effective user and has one name.
/// file: an open file's, so that it is the one that will be written; or one that was not followed (lstat).
void refuse_foreign_file(const struct stat& file, const std::string& name);

/// Throws Error (exit code 3, naming --foreign-pool) if a symbolic link on the way to `path`, or `path` itself, belongs
/// to somebody else than the effective user or root.
void refuse_foreign_links(const std::filesystem::path& path);

}  // namespace ringside
