// SPDX-License-Identifier: BSD-3-Clause
// Expectations about a text. A failure shows the text, and names the line in the test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside {

/// Expects that `text` contains each of `parts`.
inline void expect_has(const std::string& text, const std::vector<std::string>& parts,
                       const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) ADD_FAILURE_AT(file, line) << "'" << part << "' not in: " << text;
  }
}

/// Expects that `text` contains none of `parts`.
inline void expect_lacks(const std::string& text, const std::vector<std::string>& parts,
                         const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  for (const std::string& part : parts) {
    if (text.find(part) != std::string::npos) ADD_FAILURE_AT(file, line) << "'" << part << "' in: " << text;
  }
}

/// What `text` has between `before` and `after`. "" stays "". Any other text that lacks one of them is marked.
inline std::string between(const std::string& before, const std::string& text, const std::string& after) {
  if (text.empty()) return "";
  if (text.size() < before.size() + after.size() || !text.starts_with(before) || !text.ends_with(after)) {
    return "not between '" + before + "' and '" + after + "': " + text;
  }
  return text.substr(before.size(), text.size() - before.size() - after.size());
}

}  // namespace ringside
