// SPDX-License-Identifier: BSD-3-Clause
// The meaning of an edge list's columns. By default it is `u v` or `u v weight`; --columns or the head of a CSV file
// can give another meaning. Published edge lists also contain times and other figures, and only a person can
// distinguish these from weights.
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
  std::size_t required = 2;  // the least number of columns in a line
  std::string line = "'u v' or 'u v weight'";  // for messages

  /// Whether --columns or a head gives the columns' meaning. If so, nothing is inferred from the lines.
  bool are_given() const { return required == order.size(); }
};

/// The value of --columns, such as "from,to,weight,skip"; the default if it is empty. Throws `Error` (exit code 2)
/// unless the value has one `from`, one `to` and at most one `weight`.
EdgeColumns parse_edge_columns(const std::string& text);

/// The columns that a CSV file's first line names (from, source, src, u; to, target, dst, v; weight, w, value; in any
/// case, quoted or not).
struct EdgeHead {
  bool is_head = false;  // false: no word is one of these names
  EdgeColumns columns = {};
  std::string wrong = {};  // the reason why `columns` is unusable: "a column 'time'"; empty: it is usable
};
EdgeHead edge_head(const std::vector<std::string_view>& words);

}  // namespace ringside
