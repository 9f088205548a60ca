// SPDX-License-Identifier: BSD-3-Clause
// The common form of figures in tables and lines, and how to take a figure from a report.
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

/// A duration of a run that took `total`: "1.234 s"; below 1 s "564 ms", below 0.1 s "1.234 ms".
std::string run_time(double seconds, double total);

/// Lines whose columns are as wide as their widest cells. words: which columns are left-aligned; others are numbers.
std::string columns_text(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& words);

/// The number under `key` of a JSON object; 0 if it is absent, as a process may have died before reporting it.
double number(const Json& object, const char* key);

}  // namespace ringside
