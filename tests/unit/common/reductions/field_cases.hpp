// SPDX-License-Identifier: BSD-3-Clause
// Fields of every dtype, with all kinds of entries that the reductions treat differently, and with sizes around a block
// and a chunk.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/reductions/field_reducer.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/results/result_values.hpp"
#include "common/schema/dtype.hpp"
#include "tests/reference/serial_fields.hpp"
#include "tests/unit/common/reductions/reduction_cases.hpp"

namespace ringside {

inline std::vector<DType> every_dtype() {
  std::vector<DType> all;
  for (std::uint16_t number = 1; is_dtype(number); ++number) all.push_back(DType{number});
  return all;
}

/// Bytes with the alignment of a payload, which is a cache line. Copying a vector of these objects copies the bytes.
struct alignas(64) CacheLine {
  std::byte bytes[64];
};

struct FieldCase {
  std::string name;
  DType dtype;
  std::size_t entries;
  std::vector<CacheLine> x{};
  std::vector<CacheLine> previous{};  // empty if there is no previous step

  const std::byte* bytes() const { return x.data()->bytes; }
  const std::byte* previous_bytes() const { return previous.empty() ? nullptr : previous.data()->bytes; }
  std::size_t stored_bytes() const { return (entries * bytes_of(dtype) + 7) / 8 * 8; }
};

template <class T>
std::vector<CacheLine> lines_of(const std::vector<T>& entries) {
  const std::size_t bytes = entries.size() * sizeof(T);
  std::vector<CacheLine> lines(bytes / sizeof(CacheLine) + 1);
  std::memcpy(lines.data(), entries.data(), bytes);
  return lines;
}

/// A number of either sign and of any magnitude in a wide range; for an integer type, arbitrary bits.
template <class T>
T wide_entry(std::mt19937_64& generator) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(generator());
  if constexpr (std::is_floating_point_v<T>) {
    std::uniform_real_distribution<double> octave(-140, 120);
    const double magnitude = std::exp2(octave(generator));
    return static_cast<T>(generator() % 2 == 0 ? magnitude : -magnitude);
  }
}
template <>
inline std::complex<float> wide_entry(std::mt19937_64& generator) {
  return {wide_entry<float>(generator), wide_entry<float>(generator)};
}
template <>
inline std::complex<double> wide_entry(std::mt19937_64& generator) {
  return {wide_entry<double>(generator), wide_entry<double>(generator)};
}

template <class T>
std::vector<T> wide_entries(std::size_t entries, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::vector<T> x(entries);
  for (T& entry : x) entry = wide_entry<T>(generator);
  return x;
}

/// Small whole numbers, which every dtype can represent. Many entries are equal.
template <class T>
std::vector<T> small_entries(std::size_t entries, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::vector<T> x(entries);
  for (T& entry : x) entry = static_cast<T>(static_cast<float>(generator() % 100));
  return x;
}

/// The smallest and the largest number and their neighbours; for floating point, also infinities, NaN and denormal
/// numbers.
template <class T>
std::vector<T> extreme_entries(std::size_t entries, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::vector<T> x(entries);
  if constexpr (std::is_integral_v<T>) {
    const T least = std::numeric_limits<T>::min();
    const T greatest = std::numeric_limits<T>::max();
    const T some[] = {least, greatest, static_cast<T>(least + 1), static_cast<T>(greatest - 1), T{0}, T{1}};
    for (T& entry : x) entry = some[generator() % std::size(some)];
  } else {
    using Part = decltype(std::real(T{}));
    const Part some[] = {std::numeric_limits<Part>::denorm_min(),
                         -std::numeric_limits<Part>::denorm_min(),
                         std::numeric_limits<Part>::min(),
                         Part{0},
                         -Part{0},
                         Part{1},
                         std::numeric_limits<Part>::quiet_NaN(),
                         std::numeric_limits<Part>::infinity(),
                         -std::numeric_limits<Part>::infinity()};
    // Only a few values are not finite, so that there are blocks with and without them.
    const auto any = [&] { return some[generator() % 500 < 3 ? generator() % 9 : generator() % 6]; };
    for (T& entry : x) {
      if constexpr (std::is_floating_point_v<T>) {
        entry = any();
      } else {
        entry = {any(), any()};
      }
    }
  }
  return x;
}

template <class T>
FieldCase field_case(const std::string& name, DType dtype, const std::vector<T>& x, const std::vector<T>& previous) {
  return {name, dtype, x.size(), lines_of(x), previous.empty() ? std::vector<CacheLine>{} : lines_of(previous)};
}

template <class T>
std::vector<FieldCase> cases_of(DType dtype, std::size_t entries) {
  const std::string name = std::string(to_string(dtype)) + "[" + std::to_string(entries) + "], ";
  const auto made = [&](const char* kind, const std::vector<T>& x, const std::vector<T>& previous) {
    return field_case(name + kind, dtype, x, previous);
  };
  return {made("wide", wide_entries<T>(entries, 1), wide_entries<T>(entries, 2)),
          made("wide, no previous", wide_entries<T>(entries, 3), {}),
          made("small", small_entries<T>(entries, 4), small_entries<T>(entries, 5)),
          made("extreme", extreme_entries<T>(entries, 6), extreme_entries<T>(entries, 7)),
          made("constant", std::vector<T>(entries, static_cast<T>(7.0F)), std::vector<T>(entries, T{}))};
}

inline std::vector<FieldCase> field_cases(DType dtype, std::size_t entries) {
  return reference::with_type_of(dtype, [&](auto entry) { return cases_of<decltype(entry)>(dtype, entries); });
}

inline std::vector<FieldCase> field_cases(const std::vector<std::size_t>& sizes) {
  std::vector<FieldCase> all;
  for (const DType dtype : every_dtype()) {
    for (const std::size_t entries : sizes) {
      for (FieldCase& c : field_cases(dtype, entries)) all.push_back(std::move(c));
    }
  }
  return all;
}

inline std::vector<FieldCase> field_cases_around_blocks() {
  return field_cases({1, 2, 7, 17, 1023, 1024, 1025, 5000});
}

/// A number of entries for which the field has whole chunks and ends in the middle of a block.
inline std::size_t entries_of_chunks(DType dtype) {
  return 3 * kCopyChunkBytes / bytes_of(dtype) + 1029;
}

/// The results of one field, as words (one of presence bits, then the values) and by name.
class FoundResults {
 public:
  /// words: as many as the catalogue of the field requires.
  FoundResults(DType dtype, std::span<const std::uint64_t> words)
      : catalogue_(catalogue_of(Schema::of({{.name = "x", .dtype = dtype}}))), words_(words.begin(), words.end()) {}

  static std::size_t words_of(DType dtype) { return catalogue_of(Schema::of({{.name = "x", .dtype = dtype}})).words(); }

  const Catalogue& catalogue() const { return catalogue_; }
  ResultValues values() const { return ResultValues(words_); }
  bool operator==(const FoundResults& other) const { return words_ == other.words_; }

  double f64(const std::string& name, std::uint32_t index = 0) const { return values().f64(result(name), index); }
  std::int64_t i64(const std::string& name, std::uint32_t index = 0) const { return values().i64(result(name), index); }
  std::string i128(const std::string& name) const { return to_string(values().i128(result(name))); }

 private:
  const Result& result(const std::string& name) const { return *catalogue_.find("x." + name); }

  Catalogue catalogue_;
  std::vector<std::uint64_t> words_;
};

inline bool close_to(double found, double expected, double error) {
  if (!std::isfinite(expected)) return found == expected || (std::isnan(found) && std::isnan(expected));
  return std::fabs(found - expected) <= error;
}

/// Expects that every result of the catalogue is equal to that of the serial reference implementation.
inline void expect_equal_to_oracle(const FoundResults& found, const FieldCase& c) {
  const auto expected = reference::serial_results(c.dtype, c.bytes(), c.previous_bytes(), c.entries);
  for (const Result& result : found.catalogue().results()) {
    const auto of_name = expected.find(result.full_name.substr(2));
    if (of_name == expected.end()) {
      EXPECT_TRUE(result.flags == kNeedsPrevious && c.previous_bytes() == nullptr) << result.full_name << ": no oracle";
      EXPECT_FALSE(found.values().present(result)) << result.full_name;
      continue;
    }
    EXPECT_TRUE(found.values().present(result)) << result.full_name;
    const reference::SerialResult& oracle = of_name->second;
    if (result.type == ValueType::kI128) {
      EXPECT_EQ(to_text(found.values(), result), oracle.exact) << result.full_name;
      continue;
    }
    ASSERT_EQ(result.count, oracle.numbers.size()) << result.full_name;
    for (std::uint32_t i = 0; i < result.count; ++i) {
      const double number = result.type == ValueType::kF64 ? found.values().f64(result, i)
                                                           : static_cast<double>(found.values().i64(result, i));
      EXPECT_TRUE(close_to(number, oracle.numbers[i], oracle.error))
          << result.full_name << '[' << i << "]: " << number << " for " << oracle.numbers[i];
    }
  }
}

}  // namespace ringside
