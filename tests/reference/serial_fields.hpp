// SPDX-License-Identifier: BSD-3-Clause
// The reductions of a field of any dtype, written in the simplest way: each entry is converted to double, and integers
// are also added, one after another, in 128 bits. common/reductions/field_reducer must agree with these reductions.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "common/reductions/kernels/exact_reductions.hpp"
#include "common/schema/dtype.hpp"
#include "tests/reference/serial_reductions.hpp"

namespace ringside::reference {

/// Calls visit(T{}) with an entry of the dtype.
template <class Visit>
auto with_type_of(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::kF32: return visit(float{});
    case DType::kF64: return visit(double{});
    case DType::kC64: return visit(std::complex<float>{});
    case DType::kC128: return visit(std::complex<double>{});
    case DType::kI8: return visit(std::int8_t{});
    case DType::kI16: return visit(std::int16_t{});
    case DType::kI32: return visit(std::int32_t{});
    case DType::kI64: return visit(std::int64_t{});
    case DType::kU8: return visit(std::uint8_t{});
    case DType::kU16: return visit(std::uint16_t{});
    case DType::kU32: return visit(std::uint32_t{});
    case DType::kU64: break;
  }
  return visit(std::uint64_t{});
}

/// sqrt(re^2 + im^2); if a square would overflow or underflow to 0, both parts are scaled by a power of 2.
inline double modulus(double re, double im) {
  const double largest = std::fmax(std::fabs(re), std::fabs(im));
  const int exponent = largest > 0x1p510 ? -600 : largest < 0x1p-480 ? 600 : 0;
  if (std::isnan(re) || std::isnan(im)) return std::nan("");
  const double a = std::ldexp(re, exponent);
  const double b = std::ldexp(im, exponent);
  return std::ldexp(std::sqrt(a * a + b * b), -exponent);
}

inline double as_double(std::complex<float> z) {
  return modulus(z.real(), z.imag());
}
inline double as_double(std::complex<double> z) {
  return modulus(z.real(), z.imag());
}
template <class T>
double as_double(T entry) {
  return static_cast<double>(entry);
}

inline double change_of(float x, float before) {
  return static_cast<double>(x) - static_cast<double>(before);
}
inline double change_of(double x, double before) {
  return x - before;
}
template <class T>
double change_of(std::complex<T> x, std::complex<T> before) {
  return modulus(static_cast<double>(x.real()) - static_cast<double>(before.real()),
                 static_cast<double>(x.imag()) - static_cast<double>(before.imag()));
}
template <class T>
double change_of(T x, T before) {
  const Int128 change = static_cast<Int128>(x) - static_cast<Int128>(before);
  return static_cast<double>(change < 0 ? -change : change);
}

/// The expected results of a field. exact: the results of an integer field.
struct SerialField {
  Reductions reductions;
  ExactReductions exact;
};

template <class T>
SerialField serial_field_of(const std::byte* x, const std::byte* previous, std::size_t entries) {
  std::vector<T> now(entries);
  std::vector<T> before(previous != nullptr ? entries : 0);
  std::memcpy(now.data(), x, entries * sizeof(T));
  if (previous != nullptr) std::memcpy(before.data(), previous, entries * sizeof(T));
  std::vector<double> values;
  std::vector<double> changes;
  for (const T entry : now) values.push_back(as_double(entry));
  for (std::size_t i = 0; i < before.size(); ++i) changes.push_back(change_of(now[i], before[i]));
  SerialField result;
  result.reductions = serial_reductions_of(values, changes);

  if constexpr (std::is_integral_v<T>) {
    ExactReductions& exact = result.exact;
    exact.min = exact.max = now[0];
    for (std::size_t i = 0; i < entries; ++i) {
      const Int128 entry = now[i];
      exact.sum += entry;
      exact.l1 += entry < 0 ? -entry : entry;
      exact.min = entry < exact.min ? entry : exact.min;
      exact.max = entry > exact.max ? entry : exact.max;
      if (before.empty()) continue;
      const Int128 change = entry - before[i] < 0 ? before[i] - entry : entry - before[i];
      exact.change_l1 += change;
      exact.change_linf = change > exact.change_linf ? change : exact.change_linf;
    }
    result.reductions.mean = static_cast<double>(exact.sum) / static_cast<double>(entries);
  }
  return result;
}

/// x, previous: the field's bytes; previous may be null.
inline SerialField serial_field(DType dtype, const std::byte* x, const std::byte* previous, std::size_t entries) {
  return with_type_of(dtype, [&](auto entry) { return serial_field_of<decltype(entry)>(x, previous, entries); });
}

/// The expected value of one result: either numbers, with an error of at most `error` each, or an exact integer.
struct SerialResult {
  std::vector<double> numbers;
  double error = 0;
  std::string exact{};
};

/// The sum of terms whose magnitudes sum up to `magnitudes`. Within a block, a term goes through at most 64 + 4
/// additions, each with an error of at most 2^-53 of its result. Across blocks, the sum is compensated and rounded
/// once. The factor 96 also covers the rounding of the terms themselves (squares, differences).
inline SerialResult serial_sum(double sum, double magnitudes) {
  return {{sum}, 96 * 0x1p-53 * magnitudes};
}
/// A norm that is computed from squares. The squares of entries below 1e-154 may underflow to 0
/// (docs/inside/kernels.md).
inline SerialResult serial_l2(double norm) {
  return {{norm}, norm > 1e-150 ? 96 * 0x1p-53 * norm : 1e-150};
}

/// Every result of a field, by its name in the table of reductions. Changes are left out if there is no previous field.
inline std::map<std::string, SerialResult> serial_results(DType dtype, const std::byte* x, const std::byte* previous,
                                                          std::size_t entries) {
  const auto [r, exact] = serial_field(dtype, x, previous, entries);
  std::map<std::string, SerialResult> results;
  results["sum"] = serial_sum(r.sum, r.l1);
  results["mean"] = serial_sum(r.mean, r.l1 / static_cast<double>(entries));
  results["min"] = {{r.min}};
  results["max"] = {{r.max}};
  results["l1"] = serial_sum(r.l1, r.l1);
  results["l2"] = serial_l2(r.l2);
  results["linf"] = {{r.linf}};
  results["non_finite"] = {{static_cast<double>(r.non_finite)}};
  SerialResult& row = results["top_row"];
  SerialResult& value = results["top_value"];
  for (std::size_t i = 0; i < kTopEntries; ++i) {
    row.numbers.push_back(i < r.top_count ? static_cast<double>(r.top[i].row) : -1);
    value.numbers.push_back(i < r.top_count ? r.top[i].value : 0);
  }
  for (const std::uint64_t rows : r.histogram) results["histogram"].numbers.push_back(static_cast<double>(rows));
  if (r.has_change == 1) {
    results["change_l1"] = serial_sum(r.change_l1, r.change_l1);
    results["change_l2"] = serial_l2(r.change_l2);
    results["change_linf"] = {{r.change_linf}};
  }
  if (class_of(dtype) != DTypeClass::kInteger) return results;
  results["mean"].error = 0;
  const auto exactly = [&](const char* name, Int128 number) { results[name] = {{}, 0, to_string(number)}; };
  exactly("sum", exact.sum);
  exactly("min", exact.min);
  exactly("max", exact.max);
  exactly("l1", exact.l1);
  exactly("linf", exact.linf());
  if (r.has_change == 1) {
    exactly("change_l1", exact.change_l1);
    exactly("change_linf", exact.change_linf);
  }
  return results;
}

}  // namespace ringside::reference
