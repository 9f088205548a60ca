// SPDX-License-Identifier: BSD-3-Clause
// Makes the names of a place in a matrix, for messages.
#include "producer/matrix/refused_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ringside {
namespace {

std::uint64_t name_of(const CsrMatrix& matrix, std::uint64_t index) {
  return matrix.id.empty() ? index : matrix.id[index];
}

std::string text_of(const MatrixPlace& place, bool by_ids) {
  if (by_ids) {
    return place.what == MatrixPlace::What::kEntry ? fmt::format("on the edge {} {}", place.from, place.to)
                                                   : fmt::format("at node {}", place.from);
  }
  return place.what == MatrixPlace::What::kEntry
             ? fmt::format("in row {}, column {} (counted from 1)", place.from + 1, place.to + 1)
             : fmt::format("in row {} (counted from 1)", place.from + 1);
}

}  // namespace

MatrixPlace MatrixPlace::of_entry(const CsrMatrix& matrix, std::uint64_t stored) {
  const std::uint64_t* const row_end = std::upper_bound(matrix.row_begin.begin(), matrix.row_begin.end(), stored);
  std::uint64_t from = matrix.first_row + static_cast<std::uint64_t>(row_end - matrix.row_begin.begin()) - 1;
  std::uint64_t to = matrix.column[stored];
  if (matrix.orientation == Orientation::kInLinks) std::swap(from, to);
  return {What::kEntry, name_of(matrix, from), name_of(matrix, to), !matrix.id.empty()};
}

MatrixPlace MatrixPlace::of_links(const CsrMatrix& matrix, std::uint64_t row) {
  return {What::kLinks, name_of(matrix, matrix.first_row + row), 0, !matrix.id.empty()};
}

MatrixPlace MatrixPlace::of_row(const CsrMatrix& matrix, std::uint64_t row) {
  return {What::kRow, name_of(matrix, matrix.first_row + row), 0, !matrix.id.empty()};
}

RefusedEntry::RefusedEntry(const MatrixPlace& place, const std::string& found, const std::string& accepted,
                           IsRefused test)
    : Error(ExitCode::kUsage, fmt::format("found {} {}, {}", found, text_of(place, place.has_ids), accepted)),
      place_(place),
      found_(found),
      accepted_(accepted),
      is_refused_(test) {}

Error RefusedEntry::in(const std::string& file, const std::optional<PlaceInText>& where) const {
  if (!where) return Error(code(), fmt::format("{}: {}", file, what()));
  const std::string line = where->line > 0 ? fmt::format("line {}: ", where->line) : "";
  const bool is_sum = place_.what == MatrixPlace::What::kEntry && where->lines > 1;
  const std::string sum = is_sum ? fmt::format(" (the sum of {} lines)", where->lines) : "";
  return Error(code(), fmt::format("{}: {}found {} {}{}, {}", where->name.empty() ? file : where->name, line, found_,
                                   text_of(place_, place_.has_ids || where->is_edge_list), sum, accepted_));
}

}  // namespace ringside
