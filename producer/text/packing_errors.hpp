// SPDX-License-Identifier: BSD-3-Clause
// How every unpacker reports a file that it cannot use, so that the same damage has the same message in each format.
// All are errors of the input (exit code 2). `name` is the file's name; `format` is also the program that tests it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/platform/error.hpp"

namespace ringside {

/// The file ends within the data.
Error cut_short(const std::string& name, std::string_view format);

/// reason: what the library reports; may be empty.
Error damaged_near(const std::string& name, std::string_view format, std::size_t at, std::string_view reason);

/// `rest` lies from byte `at` on behind a whole `unit` (a gzip member, a bzip2 stream), and is not another one.
Error bytes_behind(const std::string& name, std::string_view format, std::string_view unit, std::string_view rest,
                   std::size_t at);

/// Zeros alone fill the last block of a tape or a disk. Other bytes may be data whose first bytes are damaged.
inline bool only_zeros(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace ringside
