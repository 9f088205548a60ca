// SPDX-License-Identifier: BSD-3-Clause
// The first lines of a MatrixMarket text: the banner, comments, the size line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringside {

struct MatrixMarketHeader {
  enum class Field { kReal, kInteger, kPattern };
  enum class Symmetry { kGeneral, kSymmetric, kSkewSymmetric };

  bool is_array = false;
  Field field = Field::kReal;
  Symmetry symmetry = Symmetry::kGeneral;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t entries = 0;  // announced number of lines with an entry; for an array, computed from its shape
  std::size_t size_line_offset = 0;
  std::size_t body_offset = 0;  // the line after the size line
};

/// True if `text` begins with the banner, in any case, possibly after blanks.
bool has_matrix_market_banner(std::string_view text);

/// Reads the header, and checks that the program can read a matrix of the kind that the header describes
/// (docs/use/run.md). Throws `Error` (exit code 2) naming the line, what was found and what would be accepted. `name`
/// is the text's name in messages.
MatrixMarketHeader read_matrix_market_header(std::string_view text, const std::string& name);

/// The first character of the first line, at or after p, that is neither blank nor a comment.
const char* skip_to_matrix_market_data(const char* p, const char* end) noexcept;

}  // namespace ringside
