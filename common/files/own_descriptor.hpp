// SPDX-License-Identifier: BSD-3-Clause
// Names that lead to a descriptor that this process already has: /dev/stdout, /dev/fd/7, /proc/self/fd/7. open(2) of
// such a name opens the file anew, with a separate offset and without O_APPEND. Only the descriptor itself has the
// offset and flags that the user set up.
//
// As an output, the name `-` means standard output. A file that is called `-` must be given as `./-`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringside {

/// The number of the descriptor that `path` names, directly or through links, whether that descriptor is open or not.
/// Nothing if `path` names no descriptor; the ordinary name of a file does not name one, even if the file is open.
std::optional<int> descriptor_named(const std::string& path);

/// The descriptor through which an output to `path` is written. It is the descriptor that `path` names, unless that is
/// a device; otherwise it is standard output or standard error, if this is open on the same regular file or pipe as
/// `path` (same device and inode). Nothing if the output must be opened by its name.
std::optional<int> descriptor_of_output(const std::string& path);

/// Whether `path` is `-`, which means standard output.
bool is_standard_output(std::string_view path) noexcept;

/// The output's name for messages: `path`, or "standard output".
std::string output_name(const std::string& path);

/// Writes `text`, a line about an output to `path`. The text goes to standard output, or to standard error if the
/// output itself goes to standard output. If the output goes to both, `text` is not written.
void write_beside_output(const std::string& path, std::string_view text) noexcept;

}  // namespace ringside
