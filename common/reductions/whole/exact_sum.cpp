// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/whole/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

namespace ringside {
namespace {

constexpr std::size_t kWordBits = 64;
constexpr std::size_t kFractionBits = 52;  // the fraction bits that a double stores
constexpr std::size_t kExponents = 2046;   // the number of exponents of finite doubles, including 0 for subnormal ones
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The 64 bits from `bit` on.
std::uint64_t bits_from(const std::uint64_t* words, std::size_t bit) noexcept {
  const std::size_t word = bit / kWordBits;
  const std::size_t shift = bit % kWordBits;
  if (shift == 0) return words[word];
  const std::uint64_t above = word + 1 < ExactSum::kWords ? words[word + 1] << (kWordBits - shift) : 0;
  return words[word] >> shift | above;
}

/// Whether a bit below `bit` is set.
bool any_below(const std::uint64_t* words, std::size_t bit) noexcept {
  for (std::size_t word = 0; word < bit / kWordBits; ++word) {
    if (words[word] != 0) return true;
  }
  const std::size_t shift = bit % kWordBits;
  return shift != 0 && words[bit / kWordBits] << (kWordBits - shift) != 0;
}

double rounded_words(const std::uint64_t* words) noexcept {
  std::size_t used = ExactSum::kWords;
  while (used > 0 && words[used - 1] == 0) --used;
  if (used == 0) return 0;
  const std::size_t top = used * kWordBits - 1 - static_cast<std::size_t>(std::countl_zero(words[used - 1]));
  // Subnormal numbers, and normal numbers of the lowest exponent, are stored as multiples of 2^-1074.
  if (top <= kFractionBits) return std::bit_cast<double>(words[0]);
  const std::size_t shift = top - kFractionBits;
  if (shift >= kExponents) return kInfinity;
  const std::uint64_t significand = bits_from(words, shift);  // at most 53 bits: no higher bit is set
  const bool is_half_or_more = (bits_from(words, shift - 1) & 1) != 0;
  const bool rounds_up = is_half_or_more && ((significand & 1) != 0 || any_below(words, shift - 1));
  // The first bit of the significand, which a double does not store, adds the 1 by which the exponent is too small; a
  // carry also increases it. Above the largest finite double, this gives the bits of infinity.
  return std::bit_cast<double>((std::uint64_t{shift} << kFractionBits) + significand + (rounds_up ? 1 : 0));
}

}  // namespace

void ExactSum::add(std::uint64_t number, std::size_t bit) noexcept {
  const std::size_t word = bit / kWordBits;
  const std::size_t shift = bit % kWordBits;
  const std::uint64_t high = shift == 0 ? 0 : number >> (kWordBits - shift);
  bool carry = __builtin_add_overflow(words[word], number << shift, &words[word]);
  // `high` is below 2^63, so adding the carry to it cannot overflow.
  carry = __builtin_add_overflow(words[word + 1], high + (carry ? 1 : 0), &words[word + 1]);
  for (std::size_t w = word + 2; carry && w < kWords; ++w) carry = ++words[w] == 0;
}

void ExactSum::add(const ExactSum& other) noexcept {
  std::uint64_t carry = 0;
  for (std::size_t w = 0; w < kWords; ++w) {
    const bool from_carry = __builtin_add_overflow(words[w], carry, &words[w]);
    const bool from_word = __builtin_add_overflow(words[w], other.words[w], &words[w]);
    carry = from_carry || from_word ? 1 : 0;
  }
  met |= other.met;
}

double ExactSum::rounded() const noexcept {
  if ((met & kNan) != 0) return __builtin_nan("");
  if ((met & kInfinite) != 0) return kInfinity;
  return rounded_words(words);
}

double rounded_difference(const ExactSum& plus, const ExactSum& minus) noexcept {
  const std::uint64_t met = plus.met | minus.met;
  const bool both_infinite = (plus.met & minus.met & ExactSum::kInfinite) != 0;
  if ((met & ExactSum::kNan) != 0 || both_infinite) return __builtin_nan("");
  if (met != 0) return plus.met != 0 ? kInfinity : -kInfinity;
  const bool is_negative = std::lexicographical_compare(std::rbegin(plus.words), std::rend(plus.words),
                                                        std::rbegin(minus.words), std::rend(minus.words));
  const ExactSum& greater = is_negative ? minus : plus;
  const ExactSum& lesser = is_negative ? plus : minus;
  std::uint64_t words[ExactSum::kWords];
  std::uint64_t borrow = 0;
  for (std::size_t w = 0; w < ExactSum::kWords; ++w) {
    const bool from_borrow = __builtin_sub_overflow(greater.words[w], borrow, &words[w]);
    const bool from_word = __builtin_sub_overflow(words[w], lesser.words[w], &words[w]);
    borrow = from_borrow || from_word ? 1 : 0;
  }
  const double difference = rounded_words(words);
  return is_negative ? -difference : difference;
}

}  // namespace ringside
