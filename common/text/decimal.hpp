// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people write them, for every option, argument and setting: decimal digits, with '.' and an exponent where
// a fraction is accepted. Leading zeros change nothing (0100 is a hundred). A sign, a blank, a digit separator, "inf",
// "nan", and a hexadecimal, octal or binary prefix are not accepted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringside {

/// Empty if the text is not a whole number, or exceeds 18446744073709551615.
std::optional<std::uint64_t> whole_number(std::string_view text) noexcept;

/// Empty if the text is not a number, or is outside a double's range.
std::optional<double> decimal_number(std::string_view text) noexcept;

}  // namespace ringside
