// SPDX-License-Identifier: BSD-3-Clause
// Printable forms of texts from other users or processes: file names, option values, a peer's messages. No byte of such
// a text may control a terminal, start a new line, or change the display of the text around it. Every message and every
// table prints such texts through these functions; ringside.format.printable does the same in the pages. Also shortens
// such texts without cutting a UTF-8 character, and makes valid UTF-8 from them for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ringside {

/// `text` on one line: control characters and bytes that are not UTF-8 become "\n", "\t", "\r" or "\x1b", invisible
/// characters that reorder or hide others become "\u202e", and everything else stays unchanged. Idempotent.
std::string printable(std::string_view text);

/// Writes the printable form to the `room` bytes at `to`, as much as fits without cutting a character; returns the
/// number of bytes written. Async-signal-safe.
std::size_t write_printable(std::string_view text, char* to, std::size_t room) noexcept;

/// The printable form of a value that may be long: if it is too long, its first bytes and the total number of its
/// bytes.
std::string shortened(std::string_view text, std::size_t most_bytes = 200);

/// The longest beginning of `text` of at most `most_bytes` bytes that does not cut a UTF-8 character: continuation
/// bytes (10xxxxxx, at most three) are removed with the first byte of their character. Bytes that are not UTF-8 may be
/// cut anywhere. The result is a view of `text`.
std::string_view utf8_prefix(std::string_view text, std::size_t most_bytes) noexcept;

/// `text` as a string for a message, with a `?` for each byte that is not UTF-8. File names may contain any bytes.
std::string utf8_text(std::string_view text);

}  // namespace ringside
