// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction_words.hpp"

#include <algorithm>
#include <bit>

namespace ringside {
namespace {

constexpr std::uint64_t kUnfilledRow = ~std::uint64_t{0};  // -1

/// The place of a result: its presence bit, and the word at which its values begin. The presence bits come before all
/// values.
struct Place {
  std::uint64_t bit;
  std::size_t word;
};
consteval Place place(const char* name) {
  const ValuePlace found = place_of(name, RINGSIDE_CLASS_REAL);
  return {std::uint64_t{1} << found.bit, 1 + found.word};
}
constexpr Place kNonFinite = place("non_finite");
constexpr Place kTopRow = place("top_row");
constexpr Place kTopValue = place("top_value");
constexpr Place kHistogram = place("histogram");

struct Number {
  Place place;
  double Reductions::*value;
  bool of_change = false;
};
constexpr Number kNumbers[] = {
    {place("sum"), &Reductions::sum},
    {place("mean"), &Reductions::mean},
    {place("min"), &Reductions::min},
    {place("max"), &Reductions::max},
    {place("l1"), &Reductions::l1},
    {place("l2"), &Reductions::l2},
    {place("linf"), &Reductions::linf},
    {place("change_l1"), &Reductions::change_l1, true},
    {place("change_l2"), &Reductions::change_l2, true},
    {place("change_linf"), &Reductions::change_linf, true},
};

}  // namespace

void to_words(const Reductions& r, std::span<std::uint64_t> words) noexcept {
  std::fill_n(words.begin(), kXOnlyWords, 0);
  words[0] = kNonFinite.bit | kTopRow.bit | kTopValue.bit | kHistogram.bit;
  for (const Number& number : kNumbers) {
    if (number.of_change && r.has_change == 0) continue;
    words[0] |= number.place.bit;
    words[number.place.word] = std::bit_cast<std::uint64_t>(r.*number.value);
  }
  words[kNonFinite.word] = r.non_finite;
  for (std::size_t i = 0; i < kTopEntries; ++i) {
    const bool filled = i < r.top_count;
    words[kTopRow.word + i] = filled ? r.top[i].row : kUnfilledRow;
    words[kTopValue.word + i] = filled ? std::bit_cast<std::uint64_t>(r.top[i].value) : 0;
  }
  std::copy_n(r.histogram, kHistogramBins, &words[kHistogram.word]);
}

Reductions to_reductions(std::span<const std::uint64_t> words, std::uint64_t rows) noexcept {
  Reductions r;
  r.rows = rows;
  for (const Number& number : kNumbers) r.*number.value = std::bit_cast<double>(words[number.place.word]);
  r.has_change = (words[0] & place("change_l1").bit) != 0 ? 1 : 0;
  r.non_finite = words[kNonFinite.word];
  while (r.top_count < kTopEntries && words[kTopRow.word + r.top_count] != kUnfilledRow) {
    const std::uint64_t i = r.top_count++;
    r.top[i] = {words[kTopRow.word + i], std::bit_cast<double>(words[kTopValue.word + i])};
  }
  std::copy_n(&words[kHistogram.word], kHistogramBins, r.histogram);
  return r;
}

}  // namespace ringside
