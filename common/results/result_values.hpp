// SPDX-License-Identifier: BSD-3-Clause
// The values of a step's results: words in the order of the catalogue, with the presence bits first. The same words lie
// in a slot and in the recorder's queue.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/results/catalogue.hpp"

namespace ringside {

/// GCC's and clang's type of 128 bits: `__extension__`, because the standard has none.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/// Decimal digits.
std::string to_string(Int128 value);

/// The values of a step, read. words: Catalogue::words of them. Scalars lie in the step descriptor.
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

/// The values of a step, written: `clear`, then each value once.
class ResultWriter {
 public:
  /// words: Catalogue::words of them.
  explicit ResultWriter(std::span<std::uint64_t> words) noexcept : words_(words) {}

  /// Every value absent and 0.
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

/// A value as text: of a double, the shortest digits that read back as the same number; "-" if it is absent.
std::string to_text(const ResultValues& values, const Result& result, std::uint32_t index = 0);

/// Whether a recorded value is what an earlier release made of the same entries: up to 0.2, change_linf was 0 where no change
/// but NaN is above 0, and is NaN now. Both are the bits of an f64.
bool is_of_earlier_release(const Result& result, std::uint64_t recorded, std::uint64_t recomputed) noexcept;

/// A value that differs, as texts; of doubles with their bits if the digits are equal.
struct ResultDifference {
  std::string name;  // "x.l1", "x.histogram[40]"
  std::string recorded;
  std::string recomputed;
};

/// Every value that differs, and is not an earlier release's, in the order of the words. Doubles are compared by their bits:
/// -0 differs from 0, and a NaN equals itself.
std::vector<ResultDifference> differences(const Catalogue& catalogue, const ResultValues& recorded,
                                          const ResultValues& recomputed);

}  // namespace ringside
