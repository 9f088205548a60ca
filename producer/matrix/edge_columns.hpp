// SPDX-License-Identifier: BSD-3-Clause
// What each column of an edge list is: by default `u v` or `u v weight`; else as --columns or the head of a CSV file
// says. Published edge lists also hold times and other figures, which only a person can tell from weights.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

enum class EdgeColumn : unsigned char { kFrom, kTo, kWeight, kSkip };

inline constexpr std::size_t kMostEdgeColumns = 64;

struct EdgeColumns {
  std::vector<EdgeColumn> order = {EdgeColumn::kFrom, EdgeColumn::kTo, EdgeColumn::kWeight};
  std::size_t required = 2;  // a line has at least so many of them
  std::string line = "'u v' or 'u v weight'";  // in messages

  /// Whether --columns or a head says what the columns are, so that no line needs to be guessed at.
  bool are_given() const { return required == order.size(); }
};

/// The value of --columns, such as "from,to,weight,skip"; the default if it is empty. Throws `Error` (exit code 2)
/// unless it has one `from`, one `to` and at most one `weight`.
EdgeColumns parse_edge_columns(const std::string& text);

/// What the words of a CSV file's first line name (from, source, src, u; to, target, dst, v; weight, w, value; in any
/// case, quoted or not).
struct EdgeHead {
  bool is_head = false;  // false: no word is such a name
  EdgeColumns columns = {};
  std::string wrong = {};  // why `columns` cannot be used: "a column 'time'"; empty: they can
};
EdgeHead edge_head(const std::vector<std::string_view>& words);

}  // namespace ringside
