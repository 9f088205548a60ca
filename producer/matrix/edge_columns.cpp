// SPDX-License-Identifier: BSD-3-Clause
#include "producer/matrix/edge_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// The names that columns can have in a head. The first name of each line is also the name that --columns uses.
constexpr std::pair<EdgeColumn, std::array<std::string_view, 5>> kNames[] = {
    {EdgeColumn::kFrom, {"from", "source", "src", "u", "fromnodeid"}},
    {EdgeColumn::kTo, {"to", "target", "dst", "v", "tonodeid"}},
    {EdgeColumn::kWeight, {"weight", "w", "value"}},
    {EdgeColumn::kSkip, {"skip"}},
};

bool has_edge(const std::vector<EdgeColumn>& order) {
  const auto count = [&order](EdgeColumn column) { return std::count(order.begin(), order.end(), column); };
  return count(EdgeColumn::kFrom) == 1 && count(EdgeColumn::kTo) == 1 && count(EdgeColumn::kWeight) <= 1;
}

EdgeColumns given(std::vector<EdgeColumn> order, const std::string& line) {
  const std::size_t columns = order.size();
  return {.order = std::move(order), .required = columns, .line = line};
}

std::string plain(std::string_view word) {
  if (word.size() >= 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front()) {
    word = word.substr(1, word.size() - 2);
  }
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace

EdgeColumns parse_edge_columns(const std::string& text) {
  if (text.empty()) return {};
  std::vector<EdgeColumn> order;
  for (std::size_t begin = 0; begin <= text.size() && order.size() <= kMostEdgeColumns;) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    const auto* const named = std::find_if(std::begin(kNames), std::end(kNames),
                                           [&](const auto& names) { return names.second.front() == word; });
    if (named == std::end(kNames)) {
      throw usage_error(
          "--columns: found '{}', expected one of from, to, weight and skip for each column, such as "
          "from,to,weight,skip",
          shortened(std::string(word)));
    }
    order.push_back(named->first);
    begin = end + 1;
  }
  if (order.size() > kMostEdgeColumns || !has_edge(order)) {
    throw usage_error("--columns: found {}, expected one 'from', one 'to' and at most one 'weight' among at most {} columns",
                      shortened(text), kMostEdgeColumns);
  }
  std::string line = text;
  std::replace(line.begin(), line.end(), ',', ' ');
  return given(std::move(order), fmt::format("'{}' as in --columns", line));
}

EdgeHead edge_head(const std::vector<std::string_view>& words) {
  EdgeHead head;
  std::vector<EdgeColumn> order;
  std::string line;
  for (const std::string_view word : words) {
    const std::string name = plain(word);
    const auto* const named = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& names) {
      return std::find(names.second.begin(), names.second.end(), name) != names.second.end() && !name.empty();
    });
    if (named != std::end(kNames)) {
      head.is_head = true;
      order.push_back(named->first);
    } else if (head.wrong.empty()) {
      head.wrong = fmt::format("a column '{}' in the header line", shortened(std::string(word)));
    }
    line += (line.empty() ? "" : " ") + name;
  }
  if (head.wrong.empty() && (!has_edge(order) || order.size() > kMostEdgeColumns)) {
    head.wrong = fmt::format("the header line '{}'", shortened(line));
  }
  if (head.wrong.empty()) head.columns = given(std::move(order), fmt::format("'{}' as in the header line", line));
  return head;
}

}  // namespace ringside
