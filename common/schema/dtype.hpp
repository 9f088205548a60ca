// SPDX-License-Identifier: BSD-3-Clause
// The types of a variable's entries. Pools and messages store the numbers of these types (docs/publish/variables.md,
// section 2). A number never changes; new types get new numbers. Entries are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ringside {

enum class DType : std::uint16_t {
  kF32 = 1,
  kF64,
  kC64,   // two f32, the real part first
  kC128,  // two f64
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64
};

/// The class of a dtype, which determines its reductions. The values are bits, because a description may contain
/// several classes.
enum class DTypeClass : std::uint8_t { kReal = 1, kComplex = 2, kInteger = 4 };

/// All names, in the order of the dtypes' numbers: "f32, f64, … u64".
inline constexpr std::string_view kDTypeNames[] = {"f32", "f64", "c64", "c128", "i8",  "i16",
                                                   "i32", "i64", "u8",  "u16",  "u32", "u64"};

constexpr bool is_dtype(std::uint16_t number) noexcept {
  return number >= 1 && number <= std::size(kDTypeNames);
}

constexpr std::string_view to_string(DType dtype) noexcept {
  return kDTypeNames[static_cast<std::uint16_t>(dtype) - 1];
}

constexpr std::optional<DType> dtype_named(std::string_view name) noexcept {
  for (std::uint16_t number = 1; is_dtype(number); ++number) {
    if (to_string(DType{number}) == name) return DType{number};
  }
  return std::nullopt;
}

/// The size of one entry in bytes.
constexpr std::size_t bytes_of(DType dtype) noexcept {
  constexpr std::size_t kBytes[] = {4, 8, 8, 16, 1, 2, 4, 8, 1, 2, 4, 8};
  return kBytes[static_cast<std::uint16_t>(dtype) - 1];
}

constexpr DTypeClass class_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kF32:
    case DType::kF64: return DTypeClass::kReal;
    case DType::kC64:
    case DType::kC128: return DTypeClass::kComplex;
    default: return DTypeClass::kInteger;
  }
}

/// Calls with(value), where `value` is a zero of the type of an entry, or of one part of a complex entry.
template <class With>
constexpr auto with_type(DType dtype, const With& with) {
  switch (dtype) {
    case DType::kF32:
    case DType::kC64: return with(float{});
    case DType::kF64:
    case DType::kC128: return with(double{});
    case DType::kI8: return with(std::int8_t{});
    case DType::kI16: return with(std::int16_t{});
    case DType::kI32: return with(std::int32_t{});
    case DType::kI64: return with(std::int64_t{});
    case DType::kU8: return with(std::uint8_t{});
    case DType::kU16: return with(std::uint16_t{});
    case DType::kU32: return with(std::uint32_t{});
    case DType::kU64: break;
  }
  return with(std::uint64_t{});
}

}  // namespace ringside
