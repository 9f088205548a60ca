// SPDX-License-Identifier: BSD-3-Clause
// All threads read the text three times: to survey it (how many edges, which ids), to count entries, and to place them.
// As in the MatrixMarket reader, the fast loops only detect that a line is wrong. Then one slow pass from the top finds
// which line it is and why.
#include "producer/matrix/edge_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "common/threads/first_failure.hpp"
#include "producer/matrix/csr_builder.hpp"
#include "producer/matrix/edge_columns.hpp"
#include "producer/matrix/id_map.hpp"
#include "producer/text/text_scan.hpp"

namespace ringside {
namespace {

enum class LineFault { kNothing, kId, kMissing, kWeight, kExtra };

constexpr std::string_view kColumnsHint = "`--columns from,to,weight,skip` names the columns";

struct Edge {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  double weight = 1;
  bool has_weight = false;
};

bool is_separator(char c) noexcept {
  return is_blank(c) || c == ',';
}

bool ends_word(const char* p, const char* end) noexcept {
  return p == end || is_separator(*p) || is_line_end(*p);
}

// Skips blanks with at most one comma, because two commas would enclose an empty word.
const char* skip_separator(const char* p, const char* end) noexcept {
  p = skip_blanks(p, end);
  return p < end && *p == ',' ? skip_blanks(p + 1, end) : p;
}

// The first character of the next line with an edge.
const char* skip_to_edge(const char* p, const char* end) noexcept {
  while (p < end) {
    p = skip_blanks(p, end);
    if (p < end && *p != '#' && *p != '%' && !is_line_end(*p)) return p;
    p = skip_line(p, end);
  }
  return end;
}

const char* find_word_end(const char* p, const char* end) noexcept {
  while (!ends_word(p, end)) ++p;
  return p;
}

// Reads the line at p up to its end. Returns the position of the line end; or sets `wrong` and returns the position of
// the offending word.
const char* parse_edge(const char* p, const char* end, const EdgeColumns& columns, Edge& edge,
                       LineFault& wrong) noexcept {
  const std::size_t most = columns.order.size();
  edge.has_weight = false;
  for (std::size_t column = 0; column < most; ++column) {
    const char* next = nullptr;
    switch (columns.order[column]) {
      case EdgeColumn::kFrom:
        next = parse_unsigned(p, end, edge.from);
        if (next == nullptr || !ends_word(next, end)) wrong = LineFault::kId;
        break;
      case EdgeColumn::kTo:
        next = parse_unsigned(p, end, edge.to);
        if (next == nullptr || !ends_word(next, end)) wrong = LineFault::kId;
        break;
      case EdgeColumn::kWeight:
        next = parse_real(p, end, edge.weight);
        if (next == nullptr || !ends_word(next, end)) wrong = LineFault::kWeight;
        edge.has_weight = true;
        break;
      case EdgeColumn::kSkip: next = find_word_end(p, end); break;
    }
    if (wrong != LineFault::kNothing) return p;
    p = skip_separator(next, end);
    if (p == end || is_line_end(*p)) {
      const std::size_t missing = columns.required > column + 1 ? columns.required - column - 1 : 0;
      // "0,1," has three columns; the last column may be empty if it is skipped.
      const bool only_the_last = missing == 1 && columns.order.back() == EdgeColumn::kSkip;
      if (missing > 0 && !(only_the_last && std::find(next, p, ',') != p)) wrong = LineFault::kMissing;
      return p;
    }
  }
  wrong = LineFault::kExtra;
  return p;
}

struct Survey {
  std::uint64_t edges = 0;
  std::uint64_t weighted_edges = 0;
  std::uint64_t min_id = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t max_id = 0;
  bool good = true;

  void add(const Edge& edge) noexcept {
    ++edges;
    weighted_edges += edge.has_weight ? 1 : 0;
    min_id = std::min({min_id, edge.from, edge.to});
    max_id = std::max({max_id, edge.from, edge.to});
  }
  void add(const Survey& other) noexcept {
    edges += other.edges;
    weighted_edges += other.weighted_edges;
    min_id = std::min(min_id, other.min_id);
    max_id = std::max(max_id, other.max_id);
    good = good && other.good;
  }
  /// The first id of a range base .. base + rows - 1 that contains every id, if such a range exists.
  std::optional<std::uint64_t> base_within(std::uint64_t rows) const noexcept {
    if (rows == 0) return std::nullopt;
    if (max_id <= rows - 1) return 0;
    if (min_id >= 1 && max_id <= rows) return 1;
    return std::nullopt;
  }
};

class EdgeListReader {
 public:
  EdgeListReader(std::string_view text, const std::string& name, const EdgeColumns& columns)
      : text_(text), name_(name), columns_(columns) {
    skip_head();
  }

  template <class Builder>
  CsrMatrix read(typename Builder::How how) {
    const char* const end = text_.data() + text_.size();
    if (first_edge_ == end) {
      throw usage_error("{}: found no edge, expected lines {}, or a MatrixMarket banner", name_, columns_.line);
    }
    Edge first;
    LineFault wrong = LineFault::kNothing;
    parse_edge(first_edge_, end, columns_, first, wrong);
    const std::optional<Counts> counted = counts(wrong);
    if (wrong != LineFault::kNothing && !counted) explain();

    // The survey omits the first line: whether that line is "n m" depends on the other lines.
    const auto use_text_from = [&](const char* begin) {
      pieces_ = split_at_lines(text_.substr(offset_of(begin)), piece_count(text_.size()));
    };
    use_text_from(skip_line(first_edge_, end));
    const std::uint64_t most_rows = most_announced_rows(text_.size());
    IdBitmap bitmap(most_rows);
    Survey survey_of = survey(bitmap);
    if (!survey_of.good) explain();
    if (counted && counted->edges == survey_of.edges) {
      if (const std::optional<std::uint64_t> base = survey_of.base_within(counted->nodes)) {
        check_rows(counted->nodes, first_edge_, most_rows);
        weighted_ = survey_of.weighted_edges > 0;
        return build_consecutive<Builder>(how, counted->nodes, *base);
      }
    }
    if (wrong != LineFault::kNothing) explain();
    if (!columns_.are_given() && first.has_weight && first.from == first.to && survey_of.edges > 0 &&
        first.weight == static_cast<double>(survey_of.edges) && survey_of.min_id >= 1 &&
        survey_of.max_id <= first.from) {
      fail(first_edge_,
           quote_line(text_, offset_of(first_edge_)) + ", which gives the numbers of rows, columns and following lines",
           "a MatrixMarket banner above it, or `--columns from,to,weight` if it is an edge");
    }

    use_text_from(first_edge_);
    survey_of.add(first);
    weighted_ = first.has_weight;
    for (const std::uint64_t id : {first.from, first.to}) {
      if (id < bitmap.limit()) bitmap.mark(id);
    }
    if (const std::optional<std::uint64_t> nodes = announced_nodes()) {
      if (const std::optional<std::uint64_t> base = survey_of.base_within(*nodes)) {
        check_rows(*nodes, text_.data() + text_.find("Nodes:"), most_rows);
        return build_consecutive<Builder>(how, *nodes, *base);
      }
    }
    return build_compacted<Builder>(how, bitmap, survey_of.max_id);
  }

  PlaceInText find(const MatrixPlace& place, IsRefused is_refused) const {
    LineChoice choice(is_refused);
    const char* const end = text_.data() + text_.size();
    for (const char* p = first_edge_; (p = skip_to_edge(p, end)) < end; p = skip_line(p, end)) {
      Edge edge;
      LineFault wrong = LineFault::kNothing;
      parse_edge(p, end, columns_, edge, wrong);
      // In a weighted edge list, "n m" is a line without a weight.
      if (wrong != LineFault::kNothing || !edge.has_weight || edge.from != place.from) continue;
      if (place.what == MatrixPlace::What::kEntry && edge.to != place.to) continue;
      choice.add(offset_of(p), edge.weight);
    }
    return {.is_edge_list = true,
            .line = choice.lines() > 0 ? line_number(text_, choice.at()) : 0,
            .lines = choice.lines()};
  }

 private:
  struct Counts {
    std::uint64_t nodes;
    std::uint64_t edges;
  };

  // The first line of a CSV file may contain the names of the columns instead of ids.
  void skip_head() {
    const char* const end = text_.data() + text_.size();
    first_edge_ = skip_to_edge(text_.data(), end);
    const char* const line_end = find_line_end(first_edge_, end);
    std::vector<std::string_view> words;
    for (const char* p = first_edge_; p < line_end && words.size() <= kMostEdgeColumns;) {
      const char* const word_end = find_word_end(p, line_end);
      words.emplace_back(p, static_cast<std::size_t>(word_end - p));
      p = skip_separator(word_end, line_end);
    }
    const auto is_name = [](std::string_view word) {
      const char first = word.empty() ? '\0' : word.front();
      return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '"' || first == '\'';
    };
    if (columns_.are_given()) {
      for (std::size_t i = 0; i < columns_.order.size(); ++i) {
        const bool is_id = columns_.order[i] == EdgeColumn::kFrom || columns_.order[i] == EdgeColumn::kTo;
        if (is_id && (i >= words.size() || !is_name(words[i]))) return;
      }
    } else {
      if (words.empty() || !is_name(words.front())) return;
      EdgeHead head = edge_head(words);
      if (!head.is_head) return;
      if (!head.wrong.empty()) {
        fail(first_edge_, head.wrong,
             fmt::format("the names from, to and weight, or source, target and value; {}", kColumnsHint));
      }
      columns_ = std::move(head.columns);
    }
    first_edge_ = skip_to_edge(line_end, end);
  }

  // The first line may give the number of nodes and edges: "n m". If the columns are given, a first line with all of
  // them is an edge.
  std::optional<Counts> counts(LineFault wrong_edge) const {
    if (columns_.are_given() && wrong_edge == LineFault::kNothing) return std::nullopt;
    static const EdgeColumns two_words{.order = {EdgeColumn::kFrom, EdgeColumn::kTo}};
    Edge counts;
    LineFault wrong = LineFault::kNothing;
    parse_edge(first_edge_, text_.data() + text_.size(), two_words, counts, wrong);
    return wrong == LineFault::kNothing ? std::optional(Counts{counts.from, counts.to}) : std::nullopt;
  }

  // Calls take(edge) for each edge of a piece, until it returns false. Returns false if `take` did, or if a line is
  // wrong.
  template <class Take>
  bool each_edge(std::string_view piece, const Take& take) const {
    const char* p = piece.data();
    const char* const end = p + piece.size();
    Edge edge;
    LineFault wrong = LineFault::kNothing;
    while ((p = skip_to_edge(p, end)) < end) {
      p = parse_edge(p, end, columns_, edge, wrong);
      if (wrong != LineFault::kNothing || !take(edge)) return false;
      p = after_line_end(p, end);
    }
    return true;
  }

  Survey survey(IdBitmap& bitmap) const {
    Survey total;
#pragma omp parallel
    {
      Survey mine;
#pragma omp for schedule(dynamic, 1)
      for (std::size_t i = 0; i < pieces_.size(); ++i) {
        const bool good = each_edge(pieces_[i], [&](const Edge& edge) {
          mine.add(edge);
          if (edge.from < bitmap.limit()) bitmap.mark(edge.from);
          if (edge.to < bitmap.limit()) bitmap.mark(edge.to);
          return true;
        });
        mine.good = mine.good && good;
      }
#pragma omp critical(ringside_edge_survey)
      total.add(mine);
    }
    return total;
  }

  // Passes every edge to a Sink (the builder's Counter or Placer), from all threads. Returns false if a line is wrong,
  // or if only some lines have weights.
  template <class Sink, class Builder, class RowOf>
  bool read_edges(const std::vector<std::string_view>& pieces, Builder& builder, std::uint64_t rows,
                  const RowOf& row_of) const {
    const auto read = [&](std::string_view piece) {
      Sink sink(builder);
      return each_edge(piece, [&](const Edge& edge) {
        if (edge.has_weight != weighted_) return false;
        const std::uint64_t row = row_of(edge.from);
        const std::uint64_t column = row_of(edge.to);
        // The survey found every id. But the text may have changed since then, and no access may leave the arrays.
        if (row < rows && column < rows) {
          sink.add(static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column), edge.weight);
        }
        return true;
      });
    };
    bool good = true;
    FirstFailure failure;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : good)
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!good) continue;
      failure.guard([&] { good = read(pieces[i]); });
    }
    failure.rethrow();
    return good;
  }

  template <class Builder, class RowOf>
  CsrMatrix build(typename Builder::How how, std::uint64_t rows, Array<std::uint64_t> id, const RowOf& row_of) const {
    const std::vector<std::string_view> pieces = Builder::own_pieces(how, pieces_);
    Builder builder(rows, rows, how, weighted_);
    const auto read_all = [&]<class Sink>() {
      const bool good = read_edges<Sink>(pieces, builder, rows, row_of);
      if (Builder::total(how, good ? 0 : kWrongLine) == kWrongLine) explain();
    };
    read_all.template operator()<typename Builder::Counter>();
    builder.allocate();
    read_all.template operator()<typename Builder::Placer>();
    return builder.finish(std::move(id));
  }

  template <class Builder>
  CsrMatrix build_consecutive(typename Builder::How how, std::uint64_t rows, std::uint64_t base) const {
    Array<std::uint64_t> id;
    if (base != 0) {
      id = Array<std::uint64_t>(rows);
#pragma omp parallel for schedule(static)
      for (std::uint64_t row = 0; row < rows; ++row) id[row] = base + row;
    }
    return build<Builder>(how, rows, std::move(id), [base](std::uint64_t name) { return name - base; });
  }

  template <class Builder>
  CsrMatrix build_compacted(typename Builder::How how, IdBitmap& bitmap, std::uint64_t max_id) const {
    if (max_id < bitmap.limit()) {
      const std::uint64_t rows = bitmap.count_up_to(max_id);
      if (rows == max_id + 1) return build_consecutive<Builder>(how, rows, 0);
      return build<Builder>(how, rows, bitmap.ids(rows), [&](std::uint64_t name) {
        return name <= max_id ? bitmap.rank(name) : std::numeric_limits<std::uint64_t>::max();
      });
    }
    IdCollection collection;
    for (const std::string_view piece : pieces_) {
      const bool good = each_edge(piece, [&](const Edge& edge) {
        collection.add(edge.from);
        collection.add(edge.to);
        return true;
      });
      if (!good) explain();
    }
    const std::vector<std::uint64_t> distinct = collection.take();
    check_rows(distinct.size(), first_edge_, kMaxRows);
    Array<std::uint64_t> id(distinct.size());
    std::copy(distinct.begin(), distinct.end(), id.begin());
    const auto row_of = [&distinct](std::uint64_t name) {
      return static_cast<std::uint64_t>(std::lower_bound(distinct.begin(), distinct.end(), name) - distinct.begin());
    };
    return build<Builder>(how, distinct.size(), std::move(id), row_of);
  }

  // The number of nodes in a comment such as "# Nodes: 875713 Edges: 5105039" before the first edge.
  std::optional<std::uint64_t> announced_nodes() const {
    constexpr std::string_view kNodes = "Nodes:";
    const std::string_view comments = text_.substr(0, offset_of(first_edge_));
    const std::size_t at = comments.find(kNodes);
    if (at == std::string_view::npos) return std::nullopt;
    const char* const end = comments.data() + comments.size();
    std::uint64_t nodes = 0;
    const char* const number = skip_blanks(comments.data() + at + kNodes.size(), end);
    return parse_unsigned(number, end, nodes) != nullptr ? std::optional(nodes) : std::nullopt;
  }

  void check_rows(std::uint64_t rows, const char* at, std::uint64_t most) const {
    if (rows > most) fail(at, fmt::format("{} rows", rows), fmt::format("at most {} in a text of this size", most));
  }

  // Reads the text again, line by line, up to the first wrong line.
  [[noreturn]] void explain() const {
    const std::string line = fmt::format("{} (ids are whole numbers from 0 to {})", columns_.line,
                                         std::numeric_limits<std::uint64_t>::max());
    const char* const end = text_.data() + text_.size();
    std::optional<bool> weighted;
    std::uint64_t weighted_line = 0;
    const char* p = first_edge_;
    // "n m" may have fewer words than an edge, so lines are compared only from the second one on.
    Edge first;
    LineFault wrong_first = LineFault::kNothing;
    parse_edge(p, end, columns_, first, wrong_first);
    const bool may_count = counts(wrong_first).has_value() && (weighted_ || wrong_first != LineFault::kNothing);
    if (may_count) p = skip_line(p, end);
    for (; (p = skip_to_edge(p, end)) < end; p = skip_line(p, end)) {
      Edge edge;
      LineFault wrong = LineFault::kNothing;
      const char* const at = parse_edge(p, end, columns_, edge, wrong);
      const std::string word = quote_word(text_, offset_of(at), ",");
      switch (wrong) {
        case LineFault::kNothing: break;
        case LineFault::kId:
          fail(at, word,
               word.find(';') == std::string::npos ? fmt::format("a node id in {}", line)
                                                   : "columns separated by blanks, tabs or commas: " + line);
        case LineFault::kMissing: fail(at, quote_line(text_, offset_of(at)), line);
        case LineFault::kWeight: fail(at, word, fmt::format("a weight within a double's range in {}", line));
        case LineFault::kExtra: fail(at, word + " after the edge", fmt::format("{}; {}", line, kColumnsHint));
      }
      if (!weighted) {
        weighted = edge.has_weight;
        weighted_line = line_number(text_, offset_of(p));
      }
      if (*weighted != edge.has_weight) {
        fail(p, quote_line(text_, offset_of(p)),
             fmt::format("'{}' as in line {}", *weighted ? "u v weight" : "u v", weighted_line));
      }
    }
    if (wrong_first == LineFault::kMissing) {
      fail(first_edge_, quote_line(text_, offset_of(first_edge_)), line + ", or the numbers of nodes and lines");
    }
    throw usage_error("{}: the file changed while it was read; start again when no process writes to it", name_);
  }

  [[noreturn]] void fail(const char* at, const std::string& found, std::string_view expected) const {
    fail_at(text_, name_, offset_of(at), found, expected);
  }
  std::size_t offset_of(const char* p) const {
    return static_cast<std::size_t>(p - text_.data());
  }

  std::string_view text_;
  const std::string& name_;
  EdgeColumns columns_;
  const char* first_edge_ = nullptr;  // the first line that is no comment and no head, even if it is "n m"
  bool weighted_ = false;
  std::vector<std::string_view> pieces_;
};

}  // namespace

CsrMatrix read_edge_list(std::string_view text, const std::string& name, Orientation orientation,
                         const EdgeColumns& columns) {
  return EdgeListReader(text, name, columns).read<CsrBuilder>(orientation);
}

CsrMatrix read_edge_list_share(std::string_view text, const std::string& name, SharedBuilder::How how,
                               const EdgeColumns& columns) {
  return EdgeListReader(text, name, columns).read<SharedBuilder>(how);
}

PlaceInText find_in_edge_list(std::string_view text, const MatrixPlace& place, IsRefused is_refused,
                              const EdgeColumns& columns) {
  if (place.what == MatrixPlace::What::kRow) return {.is_edge_list = true};
  return EdgeListReader(text, "", columns).find(place, is_refused);
}

}  // namespace ringside
