// SPDX-License-Identifier: BSD-3-Clause
// The beginning of a text of others (a mark of a journal, the reason that a program gives), for where its size is
// bounded. A text that was cut within a character would no longer be UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace ringside {

/// The longest beginning of `text` of at most `most_bytes` that cuts no character of UTF-8: continuation bytes
/// (10xxxxxx, at most three) are removed with the byte that begins their character. Bytes that are no UTF-8 are cut
/// anywhere. A view of `text`.
std::string_view utf8_prefix(std::string_view text, std::size_t most_bytes) noexcept;

}  // namespace ringside
