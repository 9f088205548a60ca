// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/whole/exact_sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ringside {
namespace {

constexpr int kStoredBits = 52;
constexpr std::uint64_t kHiddenBit = std::uint64_t{1} << kStoredBits;
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kNoNumber = 2047;  // the exponent of infinities and NaN

static_assert(kReductionBlockRows <= 2048, "the sum of a block's significands, each below 2^53, fits 64 bits");

std::uint64_t exponent_of(std::uint64_t magnitude) noexcept {
  return magnitude >> kStoredBits;
}

/// The significand in magnitude == significand * 2^(max(exponent, 1) - 1075).
std::uint64_t significand_of(std::uint64_t magnitude) noexcept {
  return (magnitude & (kHiddenBit - 1)) | (exponent_of(magnitude) != 0 ? kHiddenBit : 0);
}

std::uint64_t square_of(std::uint64_t magnitude) noexcept {
  const auto value = std::bit_cast<double>(magnitude);
  return std::bit_cast<std::uint64_t>(value * value) & ~kSign;  // without the sign, which a NaN may have
}

}  // namespace

std::array<const ExactSum*, ExactSums::kCount> ExactSums::all() const noexcept {
  return {&positive, &negative, &squares, &changes, &squares_of_changes};
}

std::array<ExactSum*, ExactSums::kCount> ExactSums::all() noexcept {
  return {&positive, &negative, &squares, &changes, &squares_of_changes};
}

void ExactSums::add(const ExactSums& other) noexcept {
  const auto own = all();
  const auto more = other.all();
  for (std::size_t s = 0; s < kCount; ++s) own[s]->add(*more[s]);
}

double ExactSums::l1() const noexcept {
  ExactSum magnitudes = positive;
  magnitudes.add(negative);
  return magnitudes.rounded();
}

double ExactSums::l2() const noexcept {
  return std::sqrt(squares.rounded());
}

double ExactSums::change_l2() const noexcept {
  return std::sqrt(squares_of_changes.rounded());
}

ExactAdder::ExactAdder() : tables_(std::make_unique<Tables>()) {}

void ExactAdder::add(const double* x, const double* change, std::size_t entries, bool is_integer,
                     ExactSums& sums) noexcept {
  settle(add_terms(x, entries, !is_integer), !is_integer, sums.positive, sums.negative, sums.squares);
  if (change == nullptr) return;
  // |change| has no sign, so both halves are added to one sum.
  settle(add_terms(change, entries, !is_integer), !is_integer, sums.changes, sums.changes, sums.squares_of_changes);
}

ExactAdder::Range ExactAdder::add_terms(const double* values, std::size_t count, bool with_values) noexcept {
  Tables& tables = *tables_;
  Range range;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(values[i]);
    const std::uint64_t magnitude = bits & ~kSign;
    range.lowest_less_one = std::min(range.lowest_less_one, magnitude - 1);
    range.greatest = std::max(range.greatest, magnitude);
    if (with_values) tables.of_sign[bits >> 63][exponent_of(magnitude)] += significand_of(magnitude);
    const std::uint64_t square = square_of(magnitude);
    tables.squares[exponent_of(square)] += significand_of(square);
  }
  return range;
}

void ExactAdder::settle(const Range& range, bool with_values, ExactSum& positive, ExactSum& negative,
                        ExactSum& squares) noexcept {
  const std::uint64_t lowest = range.lowest_less_one + 1;  // 0 if all terms are zeros
  if (with_values) {
    settle(tables_->of_sign[0], lowest, range.greatest, positive);
    settle(tables_->of_sign[1], lowest, range.greatest, negative);
  }
  // Rounded squares have the same order as the magnitudes.
  settle(tables_->squares, square_of(lowest), square_of(range.greatest), squares);
  if (range.greatest <= kNoNumber << kStoredBits) return;
  positive.met |= ExactSum::kNan;
  squares.met |= ExactSum::kNan;
}

/// lowest, greatest: the limits of the terms' magnitudes, apart from zeros.
void ExactAdder::settle(Totals& totals, std::uint64_t lowest, std::uint64_t greatest, ExactSum& sum) noexcept {
  const std::uint64_t end = std::min(exponent_of(greatest) + 1, kNoNumber);
  for (std::uint64_t exponent = exponent_of(lowest); exponent < end; ++exponent) {
    if (totals[exponent] == 0) continue;
    sum.add(totals[exponent], exponent == 0 ? 0 : exponent - 1);
    totals[exponent] = 0;
  }
  if (totals[kNoNumber] == 0) return;
  sum.met |= ExactSum::kInfinite;
  totals[kNoNumber] = 0;
}

}  // namespace ringside
