// SPDX-License-Identifier: BSD-3-Clause
// The conversions that every function of the C interface makes: exceptions become a status and a line, and structs of
// other versions of the interface become structs of this version.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"
#include "include/ringside.h"

namespace ringside::library {

/// The last failure of a handle. `set` allocates no memory.
class LastError {
 public:
  const ringside_error& get() const noexcept { return error_; }
  /// Returns `status`. Programs print the line unchanged, so unprintable bytes, which can come from names, are escaped
  /// here.
  ringside_status set(ringside_status status, std::string_view line, std::uint32_t reason = 0) noexcept {
    error_.line[write_printable(line, error_.line, sizeof(error_.line) - 1)] = '\0';
    error_.status = status;
    error_.reason = reason;
    return status;
  }

 private:
  ringside_error error_{.size = sizeof(ringside_error), .status = RINGSIDE_OK, .reason = 0, .reserved = 0, .line = {}};
};

/// An Error with exit code 2 whose reason (RINGSIDE_REASON_...) is not a wrong argument.
class Refusal : public Error {
 public:
  Refusal(std::uint32_t reason, const Error& error) : Error(error), reason_(reason) {}
  std::uint32_t reason() const noexcept { return reason_; }

 private:
  std::uint32_t reason_;
};

/// Copies the error to the caller's struct `error`. `error`: null, or a struct for which is_place_for is true.
void pass_on(const LastError& last, ringside_error* error) noexcept;

/// Stores the exception that is being handled as the last error, and returns its status.
ringside_status status_of_exception(LastError& error) noexcept;

/// Returns the status of call(), RINGSIDE_OK if call() returns nothing, or the status of the exception that it throws.
template <class Call>
ringside_status guarded(LastError& error, const Call& call) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return RINGSIDE_OK;
    } else {
      return call();
    }
  } catch (...) {
    return status_of_exception(error);
  }
}

/// Whether `error` is null or a struct with a valid size. If its size belongs to no version, the library cannot report
/// anything in it, so the function that was called has no effect.
bool is_place_for(const ringside_error* error) noexcept;

/// Returns the status of call(), for a function of the C interface that has no handle yet. A failure is copied to
/// `error`, which may be null.
template <class Call>
ringside_status guarded(ringside_error* error, const Call& call) noexcept {
  LastError last;
  const ringside_status status = guarded(last, call);
  pass_on(last, error);
  return status;
}

/// The error of a function that was called with a null handle.
const ringside_error* no_handle() noexcept;

/// The size of a struct in the first version of the interface that contains this struct. No caller has a smaller
/// struct. This number does not change when the struct grows.
template <class Struct>
consteval std::size_t first_size() {
  if (std::is_same_v<Struct, ringside_error>) return 1024;
  if (std::is_same_v<Struct, ringside_variable>) return 96;
  if (std::is_same_v<Struct, ringside_scalar>) return 24;
  if (std::is_same_v<Struct, ringside_writer_options>) return 120;
  if (std::is_same_v<Struct, ringside_counts>) return 32;
  if (std::is_same_v<Struct, ringside_run>) return 80;
  if (std::is_same_v<Struct, ringside_reader_options>) return 24;
  if (std::is_same_v<Struct, ringside_step_info>) return 48;
  if (std::is_same_v<Struct, ringside_result>) return 40;
  if (std::is_same_v<Struct, ringside_record>) return 200;
  return 0;
}
template <class Struct>
inline constexpr std::size_t kFirstSize = first_size<Struct>();

/// The largest size of a struct in any version.
inline constexpr std::uint32_t kMostStructBytes = 4096;

/// Throws Error (exit code 2) for a size that no version of a struct has.
void check_size(std::uint32_t bytes, std::size_t first, const char* type);

/// Copies from a caller's struct of `bytes` bytes the members that both versions of the struct have. Throws Error (exit
/// code 2) if the caller's version is later and one of the members that it has in addition is set.
void take_bytes(void* to, std::size_t own, const void* from, std::uint32_t bytes, const char* type);

/// A caller's struct, converted to this version of the interface. from: must not be null. Throws Error (exit code 2).
template <class Struct>
Struct taken(const Struct* from, const char* type) {
  check_size(from->size, kFirstSize<Struct>, type);
  Struct made{};
  take_bytes(&made, sizeof(made), from, from->size, type);
  made.size = sizeof(made);
  return made;
}

/// A caller's array of structs, each converted to this version of the interface. The stride of the array is the size in
/// its first element. Throws Error (exit code 2).
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
    if (size != stride) throw usage_error("{}: element {} has size {}, but the first has {}", type, i, size, stride);
    Struct& element = made.emplace_back();
    take_bytes(&element, sizeof(element), at, size, type);
    element.size = sizeof(element);
  }
  return made;
}

/// Fills a caller's struct, whose size is set, with as much of `from` as fits. If `to` is null, or if its size belongs
/// to no version, throws Error (exit code 2) and writes nothing.
template <class Struct>
void give(Struct from, Struct* to, const char* type) {
  if (to == nullptr) throw usage_error("{}: found NULL, expected a pointer to a {}", type, type);
  const std::uint32_t room = to->size;
  check_size(room, kFirstSize<Struct>, type);
  from.size = room;
  std::memcpy(to, &from, std::min<std::size_t>(room, sizeof(from)));
  if (room > sizeof(from)) std::memset(reinterpret_cast<std::byte*>(to) + sizeof(from), 0, room - sizeof(from));
}

/// The elements that are listed if there is not enough room for all of them.
enum class Listed { kFirst, kLast };

/// Fills the caller's array with up to `room` elements of `all`, in order. The first element of the array contains the
/// size of an element. count: receives the number of elements in `all`; may be null. Throws Error (exit code 2) as
/// `give` does.
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
