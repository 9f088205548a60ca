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
#include "common/text/printable.hpp"
#include "library/ringside.h"

namespace ringside::library {

/// The last failure of a handle. Setting it allocates nothing.
class LastError {
 public:
  const ringside_error& get() const noexcept { return error_; }
  /// Returns the status. Programs print the line as it is: of names in it only what is printable is kept, the rest
  /// escaped.
  ringside_status set(ringside_status status, std::string_view line, std::uint32_t reason = 0) noexcept {
    error_.line[write_printable(line, error_.line, sizeof(error_.line) - 1)] = '\0';
    error_.status = status;
    error_.reason = reason;
    return status;
  }

 private:
  ringside_error error_{.size = sizeof(ringside_error), .status = RINGSIDE_OK, .reason = 0, .reserved = 0, .line = {}};
};

/// Exit code 2 for another reason than an argument (RINGSIDE_REASON_...).
class Refusal : public Error {
 public:
  Refusal(std::uint32_t reason, const Error& error) : Error(error), reason_(reason) {}
  std::uint32_t reason() const noexcept { return reason_; }

 private:
  std::uint32_t reason_;
};

/// Copies the error to the caller's, which may be null, and else is a place for it.
void pass_on(const LastError& last, ringside_error* error) noexcept;

/// Makes the exception that is being handled the last error, and returns its status.
ringside_status status_of_exception(LastError& error) noexcept;

/// call() returns a status; an exception that leaves it becomes one.
template <class Call>
ringside_status guarded(LastError& error, const Call& call) noexcept {
  try {
    return call();
  } catch (...) {
    return status_of_exception(error);
  }
}

/// False for an error whose size no version has: it cannot be told what went wrong, so nothing is done.
bool is_place_for(const ringside_error* error) noexcept;

/// The same for a function that has no handle yet: what call() leaves is passed on to `error`, which may be null.
template <class Call>
ringside_status guarded(ringside_error* error, const Call& call) noexcept {
  LastError last;
  const ringside_status status = guarded(last, call);
  pass_on(last, error);
  return status;
}

/// The error of a function that got no handle.
const ringside_error* no_handle() noexcept;

/// The size of a struct in the first version that has it: no caller has a smaller one. A struct that grows keeps it.
template <class Struct>
inline constexpr std::size_t kFirstSize = 0;
template <>
inline constexpr std::size_t kFirstSize<ringside_error> = 1024;
template <>
inline constexpr std::size_t kFirstSize<ringside_variable> = 96;
template <>
inline constexpr std::size_t kFirstSize<ringside_scalar> = 24;
template <>
inline constexpr std::size_t kFirstSize<ringside_writer_options> = 120;
template <>
inline constexpr std::size_t kFirstSize<ringside_counts> = 32;
template <>
inline constexpr std::size_t kFirstSize<ringside_run> = 80;
template <>
inline constexpr std::size_t kFirstSize<ringside_reader_options> = 24;
template <>
inline constexpr std::size_t kFirstSize<ringside_step_info> = 48;
template <>
inline constexpr std::size_t kFirstSize<ringside_result> = 40;
template <>
inline constexpr std::size_t kFirstSize<ringside_record> = 200;

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

/// Which elements are given if there is no room for all.
enum class Listed { kFirst, kLast };

/// Fills the caller's array, whose first element has its size, with up to `room` of them, in their order. count: how
/// many there are; may be null. Throws Error (exit code 2) as `give` does.
template <class Struct>
void give_all(const std::vector<Struct>& all, Struct* out, std::size_t room, std::size_t* count, const char* type,
              Listed listed) {
  if (count != nullptr) *count = all.size();
  const std::size_t given = std::min(room, all.size());
  if (given == 0) return;
  if (out == nullptr) throw usage_error("{}: found NULL, expected room for {}", type, room);
  const std::uint32_t stride = out->size;
  check_size(stride, kFirstSize<Struct>, type);
  const std::size_t first = listed == Listed::kLast ? all.size() - given : 0;
  auto* at = reinterpret_cast<std::byte*>(out);
  for (std::size_t i = 0; i < given; ++i, at += stride) {
    std::memcpy(at, &stride, sizeof(stride));
    give(all[first + i], reinterpret_cast<Struct*>(at), type);
  }
}

}  // namespace ringside::library
