// SPDX-License-Identifier: BSD-3-Clause
#include "cli/compare/value_distance.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cli/terminal/format.hpp"

namespace ringside {
namespace {

template <class Value>
Value value_at(const std::byte* entry) {
  Value value;
  std::memcpy(&value, entry, sizeof value);
  return value;
}

/// If the bits of a finite number without its sign are read as an integer, this integer is the number of steps from 0
/// to the number, each to the next representable number.
template <class Bits, class Real>
std::optional<std::uint64_t> ulps(Real a, Real b) noexcept {
  if (!std::isfinite(a) || !std::isfinite(b)) return std::nullopt;
  constexpr Bits kMagnitude = std::numeric_limits<Bits>::max() >> 1;
  const auto steps_a = static_cast<std::uint64_t>(std::bit_cast<Bits>(a) & kMagnitude);
  const auto steps_b = static_cast<std::uint64_t>(std::bit_cast<Bits>(b) & kMagnitude);
  if (std::signbit(a) != std::signbit(b)) return steps_a + steps_b;
  return steps_a > steps_b ? steps_a - steps_b : steps_b - steps_a;
}

template <class Value>
std::optional<std::uint64_t> amount_between(Value a, Value b) noexcept {
  if constexpr (std::is_floating_point_v<Value>) {
    return ulps_between(a, b);
  } else {
    // In arithmetic modulo 2^64, the difference of the larger and the smaller value is exact.
    return a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
                 : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
  }
}

template <class Value>
std::string number_text(Value value) {
  if constexpr (std::is_same_v<Value, float>) {
    if (std::isnan(value)) return fmt::format("nan ({:#010x})", std::bit_cast<std::uint32_t>(value));
  } else if constexpr (std::is_same_v<Value, double>) {
    if (std::isnan(value)) return fmt::format("nan ({:#018x})", std::bit_cast<std::uint64_t>(value));
  } else if constexpr (sizeof(Value) == 1) {
    return fmt::format("{}", static_cast<int>(value));
  }
  return fmt::format("{}", value);
}

}  // namespace

std::optional<std::uint64_t> ulps_between(double a, double b) noexcept {
  return ulps<std::uint64_t>(a, b);
}

std::optional<std::uint64_t> ulps_between(float a, float b) noexcept {
  return ulps<std::uint32_t>(a, b);
}

ValueDistance distance(DType dtype, const std::byte* a, const std::byte* b) {
  ValueDistance found;
  found.equal = std::memcmp(a, b, bytes_of(dtype)) == 0;
  found.in_ulps = class_of(dtype) != DTypeClass::kInteger;
  const bool is_complex = class_of(dtype) == DTypeClass::kComplex;
  const std::size_t part_bytes = is_complex ? bytes_of(dtype) / 2 : bytes_of(dtype);
  const std::size_t at = is_complex && std::memcmp(a, b, part_bytes) == 0 ? part_bytes : 0;
  if (is_complex && !found.equal) found.part = at == 0 ? "real part" : "imaginary part";
  found.amount = with_type(dtype, [&](auto zero) {
    using Value = decltype(zero);
    return amount_between(value_at<Value>(a + at), value_at<Value>(b + at));
  });
  return found;
}

std::string value_text(DType dtype, const std::byte* entry) {
  return with_type(dtype, [&](auto zero) {
    using Value = decltype(zero);
    const std::string text = number_text(value_at<Value>(entry));
    if (class_of(dtype) != DTypeClass::kComplex) return text;
    const std::string imaginary = number_text(value_at<Value>(entry + sizeof(Value)));
    return fmt::format("{}{}{}i", text, imaginary.starts_with('-') ? "" : "+", imaginary);
  });
}

std::string to_text(const ValueDistance& distance) {
  if (distance.equal) return "equal";
  const std::string where = distance.part.empty() ? "" : " in the " + distance.part;
  if (!distance.amount) return fmt::format("no distance in ulps{}: a value is not finite", where);
  if (!distance.in_ulps) return fmt::format("{} apart", with_separators(*distance.amount));
  return fmt::format("{} ulp{}{}", with_separators(*distance.amount), *distance.amount == 1 ? "" : "s", where);
}

}  // namespace ringside
