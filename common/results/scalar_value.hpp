// SPDX-License-Identifier: BSD-3-Clause
// The value of a scalar, as the word in the hand-off and in the ring: the bits of a double or of a signed integer. The
// scalar's description (Scalar) gives the type.
#pragma once

#include <bit>
#include <cstdint>

namespace ringside {

struct ScalarValue {
  std::uint64_t word = 0;

  constexpr ScalarValue() noexcept = default;
  constexpr ScalarValue(double value) noexcept : word(std::bit_cast<std::uint64_t>(value)) {}
  constexpr ScalarValue(std::int64_t value) noexcept : word(static_cast<std::uint64_t>(value)) {}

  constexpr double f64() const noexcept { return std::bit_cast<double>(word); }
  constexpr std::int64_t i64() const noexcept { return static_cast<std::int64_t>(word); }
};
static_assert(sizeof(ScalarValue) == sizeof(std::uint64_t));

}  // namespace ringside
