// What an option's value has to be: the checks that declarations name. Each refuses in the house's words, "found '…',
// expected …", and gives the smallest and the largest number that is taken (common/decimal.hpp says how numbers are
// written).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace ringside {

/// One of these words.
CLI::Validator one_of(const std::vector<std::string>& accepted);

/// A whole number; what the option is given has no leading zeros any more, which CLI11 would read as octal.
CLI::Validator whole_number_within(std::uint64_t low, std::uint64_t high);

/// A number that may have a fraction or an exponent.
CLI::Validator number_within(double low, double high);
CLI::Validator number_between(double above, double below);  // neither of them

/// Bytes, as 67108864 or 64M; rewritten as digits.
CLI::Validator journal_size();

}  // namespace ringside
