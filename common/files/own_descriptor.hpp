// Names that lead to a descriptor this process already has: /dev/stdout, /dev/fd/7, /proc/self/fd/7. Opening such a
// name opens its file anew, with an offset of its own and without O_APPEND; the descriptor itself has what its user set
// up.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringside {

/// The number of the descriptor that `path` names, through links as well, whether it is open or not; nothing if it
/// names none. A file's own name names none.
std::optional<int> descriptor_named(const std::string& path);

/// The descriptor that an output to `path` is written through: the one that it names, or standard output or standard
/// error where that has the same regular file or pipe (device and inode) open. Nothing: it is opened by its name.
std::optional<int> descriptor_of_output(const std::string& path);

/// Writes `text`, which is about an output to `path`, to standard output; where the output goes there, to standard
/// error; where it goes to both, nowhere.
void write_beside_output(const std::string& path, std::string_view text) noexcept;

}  // namespace ringside
