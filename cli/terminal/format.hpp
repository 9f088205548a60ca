// SPDX-License-Identifier: BSD-3-Clause
// Figures in the form that every table and line uses, and the way a figure is taken from a report.
#pragma once

#include <cstdint>
#include <string>

namespace ringside {

/// "1,234,567"
std::string with_separators(std::uint64_t number);

/// "1234.5 MB", in units of 10^6 bytes
std::string megabytes(std::uint64_t bytes);

/// The number under `key` of a JSON object; 0 if there is none: a process that died may never have reported it.
template <class Json>
double number(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object.at(key).is_number()
             ? object.at(key).template get<double>()
             : 0.0;
}

}  // namespace ringside
