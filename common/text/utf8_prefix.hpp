// SPDX-License-Identifier: BSD-3-Clause
// The beginning of a text from others (a mark of a journal, the reason that a program gives), where its size is
// bounded. A text that was cut within a character would not be UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace ringside {

/// The longest beginning of `text` of at most `most_bytes` that cuts no UTF-8 character: continuation bytes (10xxxxxx,
/// at most three) are removed with the first byte of their character. Bytes that are not UTF-8 may be cut anywhere. The
/// result is a view of `text`.
std::string_view utf8_prefix(std::string_view text, std::size_t most_bytes) noexcept;

}  // namespace ringside
