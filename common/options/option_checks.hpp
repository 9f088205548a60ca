// The checks that declarations attach to the values of options. Each refusal reads "found '…', expected …" and, for a
// number, gives both limits (common/platform/decimal.hpp defines how numbers are written).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace ringside {

/// One of these words.
CLI::Validator one_of(const std::vector<std::string>& accepted);

/// A whole number. Leading zeros are removed from the option's value, because CLI11 would read them as octal.
CLI::Validator whole_number_within(std::uint64_t low, std::uint64_t high);

/// A number that may have a fraction or an exponent.
CLI::Validator number_within(double low, double high);
CLI::Validator number_between(double above, double below);  // both exclusive

/// Bytes, as 67108864 or 64M; rewritten as digits.
CLI::Validator journal_size();

}  // namespace ringside
