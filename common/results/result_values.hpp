// SPDX-License-Identifier: BSD-3-Clause
// The values of a step's results: words in the order of the catalogue, the presence bits first. A slot and the
// recorder's queue contain the same words.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/results/catalogue.hpp"

namespace ringside {

/// The 128-bit integers of GCC and clang. `__extension__` is needed because the standard has no such type.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/// The value in decimal digits.
std::string to_string(Int128 value);

/// Reads the values of a step. words: as many as Catalogue::words(). Scalars are in the step descriptor.
class ResultValues {
 public:
  explicit ResultValues(std::span<const std::uint64_t> words) noexcept : words_(words) {}

  bool present(const Result& result) const noexcept { return (words_[result.bit / 64] >> (result.bit % 64) & 1) != 0; }
  double f64(const Result& result, std::uint32_t index = 0) const noexcept {
    return std::bit_cast<double>(words_[result.word + index]);
  }
  std::int64_t i64(const Result& result, std::uint32_t index = 0) const noexcept {
    return static_cast<std::int64_t>(words_[result.word + index]);
  }
  Int128 i128(const Result& result, std::uint32_t index = 0) const noexcept {
    const std::uint64_t* const words = &words_[result.word + 2 * index];
    return static_cast<Int128>(static_cast<UInt128>(words[1]) << 64 | words[0]);
  }

  std::span<const std::uint64_t> words() const noexcept { return words_; }

 private:
  std::span<const std::uint64_t> words_;
};

/// Writes the values of a step: `clear`, then each value once.
class ResultWriter {
 public:
  /// words: as many as Catalogue::words().
  explicit ResultWriter(std::span<std::uint64_t> words) noexcept : words_(words) {}

  /// Makes every value absent and 0.
  void clear() noexcept {
    for (std::uint64_t& word : words_) word = 0;
  }
  void set_f64(const Result& result, double value, std::uint32_t index = 0) noexcept {
    store(result, index, std::bit_cast<std::uint64_t>(value));
  }
  void set_i64(const Result& result, std::int64_t value, std::uint32_t index = 0) noexcept {
    store(result, index, static_cast<std::uint64_t>(value));
  }
  void set_i128(const Result& result, Int128 value, std::uint32_t index = 0) noexcept {
    store(result, 2 * index, static_cast<std::uint64_t>(value));
    store(result, 2 * index + 1, static_cast<std::uint64_t>(value >> 64));
  }

 private:
  void store(const Result& result, std::uint64_t index, std::uint64_t word) noexcept {
    words_[result.bit / 64] |= std::uint64_t{1} << (result.bit % 64);
    words_[result.word + index] = word;
  }

  std::span<std::uint64_t> words_;
};

/// A value as text: a double has the shortest digits that read back as the same number; "-" if absent.
std::string to_text(const ResultValues& values, const Result& result, std::uint32_t index = 0);

/// Whether an earlier release recorded another value for the same entries. If every change is 0 or NaN, change_linf was
/// 0 up to release 0.2, and is NaN now. Both arguments are the bits of an f64.
bool is_of_earlier_release(const Result& result, std::uint64_t recorded, std::uint64_t recomputed) noexcept;

/// A value that differs, as texts; if the digits of two doubles are equal, the texts also contain the bits.
struct ResultDifference {
  std::string name;  // for example "x.l1" or "x.histogram[40]"
  std::string recorded;
  std::string recomputed;
};

/// The values that differ, in the order of the words. Skips scalars, and values for which is_of_earlier_release returns
/// true. Compares doubles by their bits: -0 differs from 0, and a NaN equals itself.
std::vector<ResultDifference> differences(const Catalogue& catalogue, const ResultValues& recorded,
                                          const ResultValues& recomputed);

}  // namespace ringside
