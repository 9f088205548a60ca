// SPDX-License-Identifier: BSD-3-Clause
// One line for each kind of damage.
#include "producer/text/packing_errors.hpp"

#include "common/text/printable.hpp"

namespace ringside {

Error cut_short(const std::string& name, std::string_view format) {
  return usage_error("{}: found the end of the file within the {} data, expected a whole file (was it cut short?)",
                     name, format);
}

Error damaged_near(const std::string& name, std::string_view format, std::size_t at, std::string_view reason) {
  const std::string why = reason.empty() ? "" : " (" + shortened(reason) + ")";
  return usage_error("{}: found damaged {} data near byte {}{}, expected a file that {} can test", name, format, at,
                     why, format);
}

Error bytes_behind(const std::string& name, std::string_view format, std::string_view unit, std::string_view rest,
                   std::size_t at) {
  return usage_error(
      "{}: found {} bytes that are not {} data behind a whole {} {}, from byte {} on, expected another {}, zeros or "
      "the end of the file",
      name, rest.size(), format, format, unit, at, unit);
}

}  // namespace ringside
