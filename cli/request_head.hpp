// Whether the head of an HTTP request is one that every party reads in the same way (RFC 9112). What proxies and
// servers have been seen to disagree about, and requests are smuggled with, is refused before cpp-httplib reads it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ringside {

struct HeadFault {
  int status;            // 400, 413 or 431
  std::string_view why;  // what was found, and what would be accepted; lives for ever
};

/// bytes: what a client sent, from its first byte on. The length of its head with the empty line behind it, once that
/// is there.
std::optional<std::size_t> head_length(std::string_view bytes) noexcept;

/// Whether bytes that are no whole head yet cannot become one: a line in them ends without a carriage return.
bool is_hopeless(std::string_view bytes) noexcept;

/// head: as head_length measured it; anything else is a head that has no end.
std::optional<HeadFault> fault_in(std::string_view head) noexcept;

}  // namespace ringside
