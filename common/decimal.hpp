// Numbers as people write them, for every option, argument and setting: decimal digits, with '.' and an exponent where
// a fraction is taken. Leading zeros change nothing (0100 is a hundred). No sign, no blank, no hexadecimal, octal or
// binary prefix, no digit separator, no "inf" and no "nan".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringside {

/// Nothing for what is no whole number, or one beyond 18446744073709551615.
std::optional<std::uint64_t> whole_number(std::string_view text) noexcept;

/// Nothing for what is no number, or one that no double is near.
std::optional<double> decimal_number(std::string_view text) noexcept;

}  // namespace ringside
