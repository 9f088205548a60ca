// SPDX-License-Identifier: BSD-3-Clause
// The files that are given by --config. Such a file contains one `key = value` per line, and tables of texts, in the
// subset of TOML that options need. CLI11 does not parse these files, because it misreads invalid TOML, drops the text
// after a # in quotes, and treats an unreadable file as an empty one. docs/use/run.md defines what is accepted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

struct Setting {
  std::string key;
  std::string value;  // without quotes, and with escapes resolved
  bool quoted = false;
  std::vector<std::string> more = {};  // of an array: the values after the first
  bool is_array = false;
  bool is_table = false;
  std::vector<std::string> names = {};  // of a table: the names of the values; the first is the name of `value`
  std::size_t line = 0;  // counted from 1
};

/// Reads a settings file. The file may also be a pipe that is one of this process's own descriptors (open_input).
/// Throws Error, whose text begins with `name`. Exit code 2: the file is missing, is of another kind, is larger than 1
/// MiB, or contains anything but settings with distinct keys. Exit code 3: reading is not permitted or fails.
std::vector<Setting> read_settings(const std::string& path, const std::string& name);

/// The settings in `text`.
std::vector<Setting> parse_settings(std::string_view text, const std::string& name);

}  // namespace ringside
