// The checks that declarations attach to the values of options. Each refusal reads "found '…', expected …" and, for a
// number, gives both limits (common/platform/decimal.hpp defines how numbers are written).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/options/command_line.hpp"

namespace ringside {

/// One of these words.
Check one_of(const std::vector<std::string>& accepted);

/// A whole number. Leading zeros are removed from the option's value.
Check whole_number_within(std::uint64_t low, std::uint64_t high);

/// A number that may have a fraction or an exponent.
Check number_within(double low, double high);
Check number_between(double above, double below);  // both exclusive

/// Bytes, as 67108864 or 64M; rewritten as digits.
Check journal_size();

}  // namespace ringside
