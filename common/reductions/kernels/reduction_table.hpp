// SPDX-License-Identifier: BSD-3-Clause
// THE TABLE of our own reductions, declared in the same form as those of plug-ins (include/ringside_reduction.h), and
// the places of their results among the values of a field. The code that computes them is in reduction_list.hpp;
// docs/inside/kernels.md describes how to add one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "common/reductions/kernels/reduction_record.hpp"
#include "include/ringside_reduction.h"

namespace ringside {
namespace reduction_table {

inline constexpr std::uint32_t kF64 = RINGSIDE_VALUE_F64;
inline constexpr std::uint32_t kI64 = RINGSIDE_VALUE_I64;
inline constexpr std::uint32_t kI128 = RINGSIDE_VALUE_I128;
inline constexpr std::uint32_t kRealOrComplex = RINGSIDE_CLASS_REAL | RINGSIDE_CLASS_COMPLEX;
inline constexpr std::uint32_t kInteger = RINGSIDE_CLASS_INTEGER;
inline constexpr std::uint32_t kEvery = RINGSIDE_CLASS_ANY;

constexpr ringside_reduction_result row(std::uint32_t type, std::uint32_t classes, std::uint32_t count = 1,
                                        const char* unit = "") noexcept {
  return {.name = "", .unit = unit, .type = type, .count = count, .classes = classes, .flags = 0};
}

// The results that a reduction may have, by class of dtype.
inline constexpr ringside_reduction_result kInexact[] = {row(kF64, kEvery)};
inline constexpr ringside_reduction_result kExactOfIntegers[] = {row(kF64, kRealOrComplex), row(kI128, kInteger)};
inline constexpr ringside_reduction_result kCountOfInexact[] = {row(kI64, kRealOrComplex, 1, "1")};
inline constexpr ringside_reduction_result kRows[] = {row(kI64, kEvery, kTopEntries, "1")};
inline constexpr ringside_reduction_result kValues[] = {row(kF64, kEvery, kTopEntries)};
inline constexpr ringside_reduction_result kBins[] = {row(kI64, kEvery, kHistogramBins, "1")};

inline constexpr std::uint32_t kOfChange = RINGSIDE_REDUCTION_NEEDS_PREVIOUS;

template <std::size_t N>
constexpr ringside_reduction declared(const char* name, const ringside_reduction_result (&results)[N],
                                      std::uint32_t flags = 0) noexcept {
  ringside_reduction reduction{};
  reduction.name = name;
  reduction.flags = flags;
  reduction.results = results;
  reduction.result_count = N;
  return reduction;
}

/// These reductions have no functions here, because the compiler combines all of them into one loop. The reductions are
/// in the order of the values of a field in a run's files, so a new reduction must be added at the end.
inline constexpr ringside_reduction kReductions[] = {
    declared("sum", kExactOfIntegers),
    declared("mean", kInexact),
    declared("min", kExactOfIntegers),
    declared("max", kExactOfIntegers),
    declared("l1", kExactOfIntegers),
    declared("l2", kInexact),
    declared("linf", kExactOfIntegers),
    declared("change_l1", kExactOfIntegers, kOfChange),
    declared("change_l2", kInexact, kOfChange),
    declared("change_linf", kExactOfIntegers, kOfChange),
    declared("non_finite", kCountOfInexact),
    declared("top_row", kRows),
    declared("top_value", kValues),
    declared("histogram", kBins),
};

/// The number of reductions in the record `Reductions`, which does not grow. These are the first reductions of the
/// table.
inline constexpr std::size_t kOfRecord = 14;

}  // namespace reduction_table

/// The place of a result among the values of a field, and its type. Type 0: the field has no such result.
struct ValuePlace {
  std::uint32_t type = 0;
  std::size_t bit = 0;  // the index among the presence bits
  std::size_t word = 0;
};

constexpr bool same_text(const char* a, const char* b) noexcept {
  for (; *a == *b; ++a, ++b) {
    if (*a == '\0') return true;
  }
  return false;
}

/// The place of the first result with this name in a field of this class (one of RINGSIDE_CLASS_*); for the name "",
/// the place after the last result of the first `reductions`.
constexpr ValuePlace place_of(const char* name, std::uint32_t field_class,
                              std::size_t reductions = std::size(reduction_table::kReductions)) noexcept {
  ValuePlace place;
  for (std::size_t r = 0; r < reductions; ++r) {
    const ringside_reduction& reduction = reduction_table::kReductions[r];
    for (std::uint32_t i = 0; i < reduction.result_count; ++i) {
      const ringside_reduction_result& result = reduction.results[i];
      if ((result.classes & field_class) == 0) continue;
      if (same_text(name, reduction.name)) return {result.type, place.bit, place.word};
      ++place.bit;
      place.word += result.count * (result.type == RINGSIDE_VALUE_I128 ? 2 : 1);
    }
  }
  return {0, place.bit, place.word};
}

/// The number of words for the values of one field, without presence bits.
inline constexpr std::size_t kRealFieldWords = place_of("", RINGSIDE_CLASS_REAL).word;  // also for a complex field
inline constexpr std::size_t kIntegerFieldWords = place_of("", RINGSIDE_CLASS_INTEGER).word;

/// The number of words of the record `Reductions`: one for presence bits, then the values.
inline constexpr std::size_t kXOnlyWords = 1 + place_of("", RINGSIDE_CLASS_REAL, reduction_table::kOfRecord).word;
static_assert(kXOnlyWords == 300, "rings, journals and readers of other releases have this number of words");

constexpr bool same_end(ValuePlace a, ValuePlace b) noexcept {
  return a.bit == b.bit && a.word == b.word;
}
static_assert(same_end(place_of("", RINGSIDE_CLASS_REAL), place_of("", RINGSIDE_CLASS_COMPLEX)),
              "real and complex fields have the same results, with their values at the same places");
static_assert(place_of("", RINGSIDE_CLASS_REAL).bit <= 64 && place_of("", RINGSIDE_CLASS_INTEGER).bit <= 64,
              "the presence bits of a field fit a word");

}  // namespace ringside
