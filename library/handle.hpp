// SPDX-License-Identifier: BSD-3-Clause
// What every function of the C interface does at its border: exceptions become a status and a line, structs of another
// version of the interface become those of this one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <vector>

#include "common/platform/error.hpp"
#include "library/ringside.h"

namespace ringside::library {

/// The line of the last failure of a handle. Setting it allocates nothing.
class Line {
 public:
  const char* text() const noexcept { return text_; }
  void clear() noexcept { text_[0] = '\0'; }
  void set(std::string_view text) noexcept {
    const std::size_t bytes = std::min(text.size(), sizeof(text_) - 1);
    std::memcpy(text_, text.data(), bytes);
    text_[bytes] = '\0';
  }

 private:
  char text_[sizeof(ringside_error::line)] = {};
};

/// The status of the exception that is being handled, and its line.
ringside_status status_of_exception(Line& line) noexcept;

/// call() returns a status; an exception that leaves it becomes one.
template <class Call>
ringside_status guarded(Line& line, const Call& call) noexcept {
  try {
    return call();
  } catch (...) {
    return status_of_exception(line);
  }
}

/// The same for a function that has no handle yet. error: may be null. Throws nothing.
void pass_on(const Line& line, ringside_status status, ringside_error* error) noexcept;

/// A refused argument: RINGSIDE_USAGE and the line.
ringside_status refuse(Line& line, std::string_view text) noexcept;

/// The bytes of a caller's struct of `bytes` bytes at `from`, as one of `own` bytes at `to`, which has its defaults.
/// Throws Error (exit code 2) for a size that cannot be, or a struct of a later version that asks for more than this
/// library knows.
void take_bytes(void* to, std::size_t own, const void* from, std::uint32_t bytes, const char* type);

/// A struct of the caller's as this version of the interface knows it. from: not null.
template <class Struct>
Struct taken(const Struct* from, const char* type) {
  Struct made{};
  take_bytes(&made, sizeof(made), from, from->size, type);
  made.size = sizeof(made);
  return made;
}

/// An array of them, whose stride is the size of its first element.
template <class Struct>
std::vector<Struct> taken(const Struct* from, std::size_t count, const char* type) {
  std::vector<Struct> made;
  made.reserve(count);
  const auto* at = reinterpret_cast<const std::byte*>(from);
  for (std::size_t i = 0; i < count; ++i, at += from->size)
    made.push_back(taken(reinterpret_cast<const Struct*>(at), type));
  return made;
}

/// Fills a struct of the caller's, whose size is set: as much of `from` as it has room for. False for a size that
/// cannot be.
template <class Struct>
bool give(const Struct& from, Struct* to) noexcept {
  const std::uint32_t room = to->size;
  if (room < sizeof(std::uint32_t)) return false;
  std::memcpy(to, &from, std::min<std::size_t>(room, sizeof(from)));
  if (room > sizeof(from)) std::memset(reinterpret_cast<std::byte*>(to) + sizeof(from), 0, room - sizeof(from));
  to->size = room;
  return true;
}

}  // namespace ringside::library
