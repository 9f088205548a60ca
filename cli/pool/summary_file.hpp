// SPDX-License-Identifier: BSD-3-Clause
// Tells a summary of `ringside run` from a pool, for commands that take either, and reads it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/json/json.hpp"

namespace ringside {

/// The file's text if it begins like a JSON object; else nothing. expected: for messages, what the command takes.
/// Throws Error: exit code 2 if it cannot be opened, or is a text of more than 1 MiB; 3 if reading fails.
std::optional<std::string> read_json_object(const std::string& path, std::string_view expected);

/// Throws Error (exit code 2), which names the file, if the text is no JSON.
Json parse_summary(const std::string& text, const std::string& path);

/// Throws Error (exit code 2), which names the file, if it is no summary of a run.
void check_summary(const Json& summary, const std::string& path);

}  // namespace ringside
