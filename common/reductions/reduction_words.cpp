// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/reduction_words.hpp"

#include <bit>

namespace ringside {
namespace {

constexpr std::uint64_t kUnfilledRow = ~std::uint64_t{0};  // -1

/// Values one after the other, each with its presence bit.
class Writer {
 public:
  explicit Writer(std::uint64_t* to) noexcept : to_(to) {}

  void f64(double value) noexcept { *result() = std::bit_cast<std::uint64_t>(value); }
  void count(std::uint64_t value) noexcept { *result() = value; }
  void i128(Int128 value) noexcept {
    *result() = static_cast<std::uint64_t>(value);
    *to_++ = static_cast<std::uint64_t>(value >> 64);
  }
  /// A value of so many words that is not there.
  void absent(std::size_t words) noexcept {
    bit_ <<= 1;
    for (std::size_t word = 0; word < words; ++word) *to_++ = 0;
  }

  void top_and_histogram(const Reductions& reductions) noexcept {
    mark();
    for (std::size_t i = 0; i < kTopEntries; ++i) {
      *to_++ = i < reductions.top_count ? reductions.top[i].row : kUnfilledRow;
    }
    mark();
    for (std::size_t i = 0; i < kTopEntries; ++i) {
      *to_++ = i < reductions.top_count ? std::bit_cast<std::uint64_t>(reductions.top[i].value) : 0;
    }
    mark();
    for (const std::uint64_t entries : reductions.histogram) *to_++ = entries;
  }

  std::uint64_t presence() const noexcept { return presence_; }

 private:
  void mark() noexcept {
    presence_ |= bit_;
    bit_ <<= 1;
  }
  std::uint64_t* result() noexcept {
    mark();
    return to_++;
  }

  std::uint64_t* to_;
  std::uint64_t presence_ = 0;
  std::uint64_t bit_ = 1;
};

}  // namespace

std::uint64_t write_values(const Reductions& r, std::uint64_t* values) noexcept {
  Writer writer(values);
  for (const double value : {r.sum, r.mean, r.min, r.max, r.l1, r.l2, r.linf}) writer.f64(value);
  if (r.has_change != 0) {
    for (const double value : {r.change_l1, r.change_l2, r.change_linf}) writer.f64(value);
  } else {
    for (int absent = 0; absent < 3; ++absent) writer.absent(1);
  }
  writer.count(r.non_finite);
  writer.top_and_histogram(r);
  return writer.presence();
}

std::uint64_t write_values(const Reductions& r, const ExactReductions& exact, std::uint64_t* values) noexcept {
  Writer writer(values);
  writer.i128(exact.sum);
  writer.f64(r.mean);
  writer.i128(exact.min);
  writer.i128(exact.max);
  writer.i128(exact.l1);
  writer.f64(r.l2);
  writer.i128(exact.linf());
  if (r.has_change != 0) {
    writer.i128(exact.change_l1);
    writer.f64(r.change_l2);
    writer.i128(exact.change_linf);
  } else {
    for (const unsigned words : {2u, 1u, 2u}) writer.absent(words);
  }
  writer.top_and_histogram(r);
  return writer.presence();
}

Reductions read_values(const std::uint64_t* from, std::uint64_t presence, std::uint64_t rows) noexcept {
  constexpr std::uint64_t kChangeBit = std::uint64_t{1} << 7;  // change_l1 is the eighth result
  Reductions r;
  r.rows = rows;
  for (double* value :
       {&r.sum, &r.mean, &r.min, &r.max, &r.l1, &r.l2, &r.linf, &r.change_l1, &r.change_l2, &r.change_linf}) {
    *value = std::bit_cast<double>(*from++);
  }
  r.has_change = (presence & kChangeBit) != 0 ? 1 : 0;
  r.non_finite = *from++;
  const std::uint64_t* const top_value = from + kTopEntries;
  while (r.top_count < kTopEntries && from[r.top_count] != kUnfilledRow) {
    r.top[r.top_count] = {from[r.top_count], std::bit_cast<double>(top_value[r.top_count])};
    ++r.top_count;
  }
  from = top_value + kTopEntries;
  for (std::uint64_t& entries : r.histogram) entries = *from++;
  return r;
}

}  // namespace ringside
