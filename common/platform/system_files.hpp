// SPDX-License-Identifier: BSD-3-Clause
// Small text files of /proc and /sys: one value per line, or words separated by blanks. A value that cannot be read is
// reported as absent, never guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// The first line of a file, without its newline; nothing if the file cannot be read.
std::optional<std::string> first_line(const std::string& path);

/// The decimal number at the beginning of `text`.
std::optional<std::int64_t> number_of(std::string_view text);

/// The decimal number at the beginning of the file.
std::optional<std::int64_t> number_in(const std::string& path);

std::vector<std::string> words(const std::string& text);

/// The names in `folder` that begin with `prefix`, sorted; empty if there is no such folder.
std::vector<std::string> entries_of(const std::string& folder, std::string_view prefix);

/// Whether the kernel of that release ("4.19.0-20-amd64") is older than MAJOR.MINOR.
bool kernel_before(const std::string& release, std::int64_t major, std::int64_t minor);

}  // namespace ringside
