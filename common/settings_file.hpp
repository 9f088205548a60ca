// The files that --config names: one `key = value` a line, in the part of TOML that an option needs. Read here and not
// by CLI11, which takes what is no TOML for something else, drops what follows a # in quotes, and reads a file that
// cannot be read as an empty one. What is accepted is in docs/settings.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

struct Setting {
  std::string key;
  std::string value;  // without quotes, escapes replaced
  bool quoted = false;
  std::size_t line = 0;  // from 1
};

/// Throws Error, its text beginning with NAME: exit code 2 for a file that is missing, is none, or holds anything but
/// settings, each key at most once; 3 for one that may not be, or cannot be, read.
std::vector<Setting> read_settings(const std::string& path, const std::string& name);

/// The settings in `text`.
std::vector<Setting> parse_settings(std::string_view text, const std::string& name);

}  // namespace ringside
