// SPDX-License-Identifier: BSD-3-Clause
// The head of an HTTP request (RFC 9112): what it requests, and whether every proxy and server interprets it in the
// same way. Heads that are known to be interpreted differently allow request smuggling, and are refused. We do not use
// a library: the server parses a complete head in memory, without body or socket, and no library of the distribution
// documents an interface for this purpose in all its releases.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringside {

struct HeadFault {
  int status;            // 400, 413 or 431
  std::string_view why;  // the fault, and what would be accepted; static text
};

/// bytes: all bytes that have arrived from the client. Returns the length of the head, including the empty line at its
/// end; empty if that line has not arrived yet.
std::optional<std::size_t> head_length(std::string_view bytes) noexcept;

/// Whether an incomplete head cannot be completed: one of its lines ends without a carriage return.
bool cannot_be_completed(std::string_view bytes) noexcept;

/// Returns the first fault of the head; empty if there is none. head: the bytes that head_length measured; any other
/// text counts as a head without an end.
std::optional<HeadFault> fault_in(std::string_view head) noexcept;

struct RequestHead {
  std::string_view method;                                            // "GET"
  std::string path;                                                   // percent-decoded, without query and fragment
  std::vector<std::pair<std::string, std::string>> parameters;        // of the query; percent-decoded, in order
  std::vector<std::pair<std::string_view, std::string_view>> fields;  // in order; values without blanks around them

  /// The value of the first parameter with this name.
  std::optional<std::string> parameter(std::string_view name) const;
  /// The value of the first field with this name, which must be in lower case; empty if no such field exists.
  std::string_view field(std::string_view lower_case) const noexcept;
};

/// head: a head without fault, according to fault_in. It must outlive the result.
RequestHead read_head(std::string_view head);

}  // namespace ringside
