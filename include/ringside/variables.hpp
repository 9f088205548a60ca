// SPDX-License-Identifier: BSD-3-Clause
// A part of ringside.hpp that both sides use: errors, and what a step is made of: variables and scalars.
#ifndef RINGSIDE_VARIABLES_HPP
#define RINGSIDE_VARIABLES_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../ringside.h"

namespace ringside {
// The names of this interface; the library has others of its own inside.
inline namespace abi0 {

/// what() is one line; status() one of RINGSIDE_USAGE ... RINGSIDE_INTERRUPTED, or RINGSIDE_OVERWRITTEN of a step whose
/// slot was needed.
class Error : public std::runtime_error {
 public:
  Error(ringside_status status, const char* line, std::uint32_t reason = 0)
      : std::runtime_error(line), status_(status), reason_(reason) {}
  explicit Error(const ringside_error& error) : Error(error.status, error.line, error.reason) {}
  ringside_status status() const noexcept { return status_; }
  /// RINGSIDE_REASON_..., if status() is RINGSIDE_USAGE.
  std::uint32_t reason() const noexcept { return reason_; }

 private:
  ringside_status status_;
  std::uint32_t reason_;
};

/// The text for ringside.h, where it ends at its first NUL byte. Throws Error if it has one inside; `what` names it.
inline const char* c_text(const char* what, const std::string& text) {
  if (text.find('\0') != std::string::npos) {
    throw Error(
        RINGSIDE_USAGE,
        (std::string(what) + ": found '" + text.c_str() + "' and a NUL byte, expected a text without one").c_str(),
        RINGSIDE_REASON_ARGUMENT);
  }
  return text.c_str();
}

/// The dtype of an array of T: float, double, their std::complex, and the integers of 8 to 64 bits.
template <class T>
constexpr std::uint16_t dtype_of() noexcept {
  if constexpr (std::is_same_v<T, float>)
    return RINGSIDE_F32;
  else if constexpr (std::is_same_v<T, double>)
    return RINGSIDE_F64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return RINGSIDE_C64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return RINGSIDE_C128;
  else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>, "Ringside has no dtype for T");
    constexpr std::uint16_t first = std::is_signed_v<T> ? RINGSIDE_I8 : RINGSIDE_U8;
    return static_cast<std::uint16_t>(first + (sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3));
  }
}

/// A variable of a run: a named array, row-major. An empty shape is one entry.
struct Variable {
  std::string name;
  std::uint16_t dtype = RINGSIDE_F64;
  std::vector<std::uint64_t> shape{};
  std::uint16_t role = RINGSIDE_ROLE_FIELD;
  std::string unit{};
};

/// A variable that is kept and reduced.
template <class T>
Variable field(std::string name, std::vector<std::uint64_t> shape, std::string unit = {}) {
  return {std::move(name), dtype_of<T>(), std::move(shape), RINGSIDE_ROLE_FIELD, std::move(unit)};
}
/// A variable that is kept only: what the solver needs to continue.
template <class T>
Variable state(std::string name, std::vector<std::uint64_t> shape, std::string unit = {}) {
  return {std::move(name), dtype_of<T>(), std::move(shape), RINGSIDE_ROLE_STATE, std::move(unit)};
}

/// The memory of an array of the solver's own, for Writer::put: a vector, span or other contiguous range. It lives
/// until the call returns.
class Array {
 public:
  template <std::ranges::contiguous_range Range>
  requires std::ranges::sized_range<Range> Array(
      const Range& range)  // NOLINT(google-explicit-constructor): put(k, {x, y})
      : data_(std::ranges::data(range)),
        dtype_(dtype_of<std::ranges::range_value_t<Range>>()),
        entries_(std::ranges::size(range)) {}
  const void* data() const noexcept { return data_; }
  std::uint16_t dtype() const noexcept { return dtype_; }
  std::size_t entries() const noexcept { return entries_; }

 private:
  const void* data_;
  std::uint16_t dtype_;
  std::size_t entries_;
};

/// A number that the solver publishes with each step; recorded as solver.NAME.
struct Scalar {
  std::string name;
  std::uint32_t type = RINGSIDE_VALUE_F64;
  std::string unit{};
};

/// A double or an integer as a scalar's value.
inline ringside_value value(double number) noexcept {
  ringside_value made;
  made.f64 = number;
  return made;
}
inline ringside_value value(std::int64_t number) noexcept {
  ringside_value made;
  made.i64 = number;
  return made;
}

}  // namespace abi0
}  // namespace ringside

#endif  // RINGSIDE_VARIABLES_HPP
