// SPDX-License-Identifier: BSD-3-Clause
// Whether every party reads the head of an HTTP request in the same way (RFC 9112). Heads that proxies and servers are
// known to read differently, which allows request smuggling, are refused before cpp-httplib reads them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ringside {

struct HeadFault {
  int status;            // 400, 413 or 431
  std::string_view why;  // what was found, and what would be accepted; static text
};

/// bytes: what a client sent, from its first byte on. Returns the length of the head, including the empty line after
/// it; nothing before that line has arrived.
std::optional<std::size_t> head_length(std::string_view bytes) noexcept;

/// Whether an incomplete head cannot be completed: one of its lines ends without a carriage return.
bool cannot_be_completed(std::string_view bytes) noexcept;

/// Returns the first fault of the head; nothing if it has none. head: as head_length measured it; any other text is a
/// head without an end.
std::optional<HeadFault> fault_in(std::string_view head) noexcept;

}  // namespace ringside
