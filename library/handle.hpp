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

/// The size of a struct in the first version that has it: no caller has a smaller one. A struct that grows keeps it.
template <class Struct>
inline constexpr std::size_t kFirstSize = sizeof(Struct);

/// No version of a struct is larger.
inline constexpr std::uint32_t kMostStructBytes = 4096;

/// Throws Error (exit code 2) for a size that no version of a struct has.
void check_size(std::uint32_t bytes, std::size_t first, const char* type);

/// Copies what both versions of a struct have, from a caller's struct of `bytes` bytes. Throws Error (exit code 2) if
/// the caller's version is later and asks for something that this library does not know.
void take_bytes(void* to, std::size_t own, const void* from, std::uint32_t bytes, const char* type);

/// A struct of the caller's as this version of the interface knows it. from: not null. Throws Error (exit code 2).
template <class Struct>
Struct taken(const Struct* from, const char* type) {
  check_size(from->size, kFirstSize<Struct>, type);
  Struct made{};
  take_bytes(&made, sizeof(made), from, from->size, type);
  made.size = sizeof(made);
  return made;
}

/// An array of them, whose stride is the size of its elements.
template <class Struct>
std::vector<Struct> taken(const Struct* from, std::size_t count, const char* type) {
  std::vector<Struct> made;
  if (count == 0) return made;
  const std::uint32_t stride = from->size;
  check_size(stride, kFirstSize<Struct>, type);
  made.reserve(count);
  const auto* at = reinterpret_cast<const std::byte*>(from);
  for (std::size_t i = 0; i < count; ++i, at += stride) {
    std::uint32_t size = 0;
    std::memcpy(&size, at, sizeof(size));
    if (size != stride) throw usage_error("{}: element {} has size {}, the first has {}", type, i, size, stride);
    Struct& element = made.emplace_back();
    take_bytes(&element, sizeof(element), at, size, type);
    element.size = sizeof(element);
  }
  return made;
}

/// Fills a struct of the caller's, whose size is set, with as much of `from` as it has room for. Throws Error (exit
/// code 2), and touches nothing, for no struct or a size that no version has.
template <class Struct>
void give(Struct from, Struct* to, const char* type) {
  if (to == nullptr) throw usage_error("{}: found NULL, expected a place for it", type);
  const std::uint32_t room = to->size;
  check_size(room, kFirstSize<Struct>, type);
  from.size = room;
  std::memcpy(to, &from, std::min<std::size_t>(room, sizeof(from)));
  if (room > sizeof(from)) std::memset(reinterpret_cast<std::byte*>(to) + sizeof(from), 0, room - sizeof(from));
}

}  // namespace ringside::library
