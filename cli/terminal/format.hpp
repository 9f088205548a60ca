// SPDX-License-Identifier: BSD-3-Clause
// Formats figures for tables and lines, and reads figures from a report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

class Json;

/// "1,234,567"
std::string with_separators(std::uint64_t number);

/// "1 step", "2,000 steps", "5 passes".
std::string counted(std::uint64_t number, std::string_view noun);

/// "1234.5 MB", in units of 10^6 bytes; below 0.1 MB "24.4 kB"
std::string megabytes(std::uint64_t bytes);

/// A duration within a run. The unit depends on `total`, the duration of the run: "1.234 s"; below 1 s "564 ms", below
/// 0.1 s "1.234 ms".
std::string run_time(double seconds, double total);

/// Lines whose columns are as wide as their widest cells. words: whether each column contains words and is
/// left-aligned; the other columns contain numbers.
std::string columns_text(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& words);

/// The number under `key` of a JSON object; 0 if the key is absent, because a process may have died before it reported
/// the number.
double number(const Json& object, const char* key);

}  // namespace ringside
