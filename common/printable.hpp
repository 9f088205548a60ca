// What people are shown of texts that others chose: names of files, values of options, what a peer said. None of their
// bytes may steer a terminal or begin a line of its own. Every message and every table shows such a text through these.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ringside {

/// `text` on one line: control characters and bytes that are no UTF-8 as "\n", "\t", "\r" or "\x1b", all else as it is.
/// What comes out is left alone when it is passed in again.
std::string printable(std::string_view text);

/// The same of a value that may be long: its first bytes, and how many there are.
std::string shortened(std::string_view text, std::size_t most_bytes = 200);

}  // namespace ringside
