// SPDX-License-Identifier: BSD-3-Clause
// The results of one field, written by name into the words that the table assigns to them. A name that is not in the
// table does not compile. All functions are inlined, so that the kernels may call them (cmake/isa_variants.cmake).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/reductions/kernels/reduction_table.hpp"
#include "common/results/result_values.hpp"

namespace ringside {

/// The name of a reduction, as a template argument.
template <std::size_t N>
struct ReductionName {
  char text[N] = {};
  consteval ReductionName(const char (&name)[N]) noexcept {
    for (std::size_t i = 0; i < N; ++i) text[i] = name[i];
  }
};

/// The results of a real or complex field, or of an integer field, whose results have other types. Setting a result
/// that the field does not have, or has with another type, does nothing.
class FieldResults {
 public:
  /// values: kRealFieldWords or kIntegerFieldWords words, all 0. rows: the number of entries of the field.
  [[gnu::always_inline]] FieldResults(std::uint64_t* values, std::uint64_t rows, bool integer) noexcept
      : values_(values), rows_(rows), integer_(integer) {}

  [[gnu::always_inline]] std::uint64_t rows() const noexcept { return rows_; }
  [[gnu::always_inline]] std::uint64_t presence() const noexcept { return presence_; }

  template <ReductionName kName>
  [[gnu::always_inline]] void f64(double value) noexcept {
    if (std::uint64_t* const word = words<kName, RINGSIDE_VALUE_F64>()) *word = __builtin_bit_cast(std::uint64_t, value);
  }
  template <ReductionName kName>
  [[gnu::always_inline]] void i64(std::uint64_t value) noexcept {
    if (std::uint64_t* const word = words<kName, RINGSIDE_VALUE_I64>()) *word = value;
  }
  template <ReductionName kName>
  [[gnu::always_inline]] void i128(Int128 value) noexcept {
    std::uint64_t* const word = words<kName, RINGSIDE_VALUE_I128>();
    if (word == nullptr) return;
    word[0] = static_cast<std::uint64_t>(value);
    word[1] = static_cast<std::uint64_t>(value >> 64);
  }

  /// Call it when all results of the change are written. If every change is 0 or NaN, and some are NaN, change_linf
  /// becomes NaN, because 0 would mean that nothing has changed.
  [[gnu::always_inline]] void settle_change() noexcept {
    constexpr ValuePlace kL1 = place_of("change_l1", RINGSIDE_CLASS_REAL);
    constexpr ValuePlace kLinf = place_of("change_linf", RINGSIDE_CLASS_REAL);
    if (integer_) return;
    const double l1 = __builtin_bit_cast(double, values_[kL1.word]);
    if (__builtin_bit_cast(double, values_[kLinf.word]) == 0 && l1 != l1) values_[kLinf.word] = values_[kL1.word];
  }

  /// Marks a result of this type as present, and returns its words; null if the field has no such result.
  template <ReductionName kName, std::uint32_t kType>
  [[gnu::always_inline]] std::uint64_t* words() noexcept {
    constexpr ValuePlace kReal = place_of(kName.text, RINGSIDE_CLASS_REAL);
    constexpr ValuePlace kInteger = place_of(kName.text, RINGSIDE_CLASS_INTEGER);
    static_assert(kReal.type == kType || kInteger.type == kType, "the table has no reduction of this name and type");
    const ValuePlace place = integer_ ? kInteger : kReal;
    if (place.type != kType) return nullptr;
    presence_ |= std::uint64_t{1} << place.bit;
    return values_ + place.word;
  }

 private:
  std::uint64_t* values_;
  std::uint64_t rows_;
  std::uint64_t presence_ = 0;
  bool integer_;
};

}  // namespace ringside
