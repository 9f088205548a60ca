// SPDX-License-Identifier: BSD-3-Clause
// The distance of two values of a variable. For integers it is their difference. For floating-point numbers it is
// counted in units in the last place (ulps), that is, in steps from one representable number to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/schema/dtype.hpp"

namespace ringside {

struct ValueDistance {
  bool equal = true;  // bit by bit
  // Set if both values are finite. For complex numbers, it is the distance of the first part (real or imaginary) that
  // differs. +0 and -0 are 0 ulps apart.
  std::optional<std::uint64_t> amount;
  bool in_ulps = true;  // false: the difference of two integers
  std::string part;     // "real part", "imaginary part"; empty unless the value is complex
};

/// The distance of two doubles or floats, from their bits. Empty if either is NaN or infinite.
std::optional<std::uint64_t> ulps_between(double a, double b) noexcept;
std::optional<std::uint64_t> ulps_between(float a, float b) noexcept;

/// The distance of two entries of type `dtype`, of bytes_of(dtype) bytes each.
ValueDistance distance(DType dtype, const std::byte* a, const std::byte* b);

/// The entry as text: the shortest digits that read back as the same number; "1.5+2i"; a NaN with its bits.
std::string value_text(DType dtype, const std::byte* entry);

/// "1 ulp", "4,096 ulps", "1 ulp in the imaginary part", "3 apart", "no distance in ulps: a value is not finite"
std::string to_text(const ValueDistance& distance);

}  // namespace ringside
