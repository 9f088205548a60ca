// SPDX-License-Identifier: BSD-3-Clause
// Printable forms of texts that others chose: file names, option values, a peer's messages. No byte of them may
// control a terminal or start a new line. Every message and every table shows such a text through these functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ringside {

/// `text` on one line: control characters and bytes that are not UTF-8 as "\n", "\t", "\r" or "\x1b", all else
/// unchanged. Idempotent.
std::string printable(std::string_view text);

/// The same for a value that may be long: its first bytes, and their total number.
std::string shortened(std::string_view text, std::size_t most_bytes = 200);

}  // namespace ringside
