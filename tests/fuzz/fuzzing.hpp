// SPDX-License-Identifier: BSD-3-Clause
// What the fuzz targets require of a reader: it must throw an Error of one line, or return a valid matrix.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/platform/error.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside::fuzzing {

inline void demand(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

/// Runs `action`; returns the text of the Error that it threw, or an empty text.
template <class Action>
std::string run(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string_view line = error.what();
    demand(!line.empty() && line.find('\n') == std::string_view::npos, "an Error is one line");
    demand(line.size() < 500, "an Error is short");
    return error.what();
  }
  return "";
}

inline void check(const CsrMatrix& matrix, Orientation orientation) {
  demand(matrix.orientation == orientation, "the orientation is the one asked for");
  demand(matrix.rows >= 1 && matrix.row_begin.size() == matrix.rows + 1, "there are rows + 1 row beginnings");
  demand(matrix.row_begin[0] == 0 && matrix.row_begin[matrix.rows] == matrix.nonzeros(), "rows hold all entries");
  demand(matrix.value.empty() || matrix.value.size() == matrix.nonzeros(), "every entry has a value, or none");
  demand(matrix.id.empty() || matrix.id.size() == matrix.rows, "every row has a name, or none");
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    demand(matrix.row_begin[row] <= matrix.row_begin[row + 1], "row beginnings ascend");
    for (std::uint64_t k = matrix.row_begin[row]; k < matrix.row_begin[row + 1]; ++k) {
      demand(matrix.column[k] < matrix.columns, "columns exist");
    }
  }
}

/// Reads the matrix in both orientations; returns the text of the first Error.
template <class Read>
std::string read_both_ways(Read&& read) {
  std::string first_error;
  for (const Orientation orientation : {Orientation::kRows, Orientation::kInLinks}) {
    const std::string error = run([&] { check(read(orientation), orientation); });
    if (first_error.empty()) first_error = error;
  }
  return first_error;
}

}  // namespace ringside::fuzzing
