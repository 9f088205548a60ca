// SPDX-License-Identifier: BSD-3-Clause
// The checks that declarations attach to the values of options. Each refusal reads "found '…', expected …" and, for a
// number, gives both limits (common/text/decimal.hpp defines how numbers are written).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/options/command_line.hpp"

namespace ringside {

/// Accepts one of these words. former: former spellings, which are accepted and replaced, but not listed in help and
/// refusals.
Check one_of(const std::vector<std::string>& accepted, const std::map<std::string, std::string>& former = {});

/// Accepts `word`, or `prefix` followed by the name of a folder.
Check word_or_folder(const std::string& word, const std::string& prefix);

/// Accepts a whole number. Leading zeros are removed from the option's value.
Check whole_number_within(std::uint64_t low, std::uint64_t high);

/// Accepts a number that may have a fraction or an exponent.
Check number_within(double low, double high);
Check number_between(double above, double below);  // both limits are exclusive

/// Accepts a number of bytes, such as 67108864 or 64M (K, M and G are powers of 1024), and rewrites it as digits. The
/// check does not use CLI::AsSizeValue. CLI::AsSizeValue reads 010M as 8M, and accepts 0x8M, +8M, " 8M", M and numbers
/// beyond 64 bits; its errors name neither limit.
Check journal_size();

/// Accepts a size from `low` to `high` bytes in the same form. limits: both limits in words, "4K to 1024G".
Check size_within(std::uint64_t low, std::uint64_t high, const std::string& limits);

}  // namespace ringside
