// SPDX-License-Identifier: BSD-3-Clause
// The errors that every unpacker throws for an unusable file, so that the same damage has the same message in each
// format. All are errors of the input (exit code 2). `name` is the file's name; `format` is also the name of the
// program that tests such a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {

/// The error for a file that ends before its data is complete.
inline Error cut_short(const std::string& name, std::string_view format) {
  return usage_error("{}: found the end of the file within the {} data, expected a whole file (was it cut short?)",
                     name, format);
}

/// reason: what the library reports; may be empty.
inline Error damaged_near(const std::string& name, std::string_view format, std::size_t at, std::string_view reason) {
  const std::string why = reason.empty() ? "" : " (" + shortened(reason) + ")";
  return usage_error("{}: found damaged {} data near byte {}{}, expected a file that {} can test", name, format, at,
                     why, format);
}

/// The error if `rest` follows a complete `unit` (a gzip member, a bzip2 stream) at byte `at`, and is not another unit.
inline Error bytes_behind(const std::string& name, std::string_view format, std::string_view unit,
                          std::string_view rest, std::size_t at) {
  return usage_error(
      "{}: found {} bytes that are not {} data after a whole {} {}, from byte {} on, expected another {}, zeros or the "
      "end of the file",
      name, rest.size(), format, format, unit, at, unit);
}

/// Zeros may fill the last block of a tape or a disk. Bytes that are not zero may be data whose first bytes are
/// damaged.
inline bool only_zeros(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace ringside
