// SPDX-License-Identifier: BSD-3-Clause
// All threads read the text twice (csr_builder.hpp). The fast loops only detect *that* a line is wrong. Then one thread
// reads the text again from the top, finds the first wrong line and reports its error.
#include "producer/matrix/matrix_market.hpp"

#include <fmt/format.h>

#include <vector>

#include "common/platform/error.hpp"
#include "common/threads/first_failure.hpp"
#include "producer/matrix/csr_builder.hpp"
#include "producer/matrix/matrix_market_header.hpp"
#include "producer/text/text_scan.hpp"

namespace ringside {
namespace {

using Field = MatrixMarketHeader::Field;
using Symmetry = MatrixMarketHeader::Symmetry;

// Why a line cannot be read; `at` is the word to show.
enum class EntryFault { kNothing, kRow, kColumn, kValue, kMissing, kExtra, kAboveDiagonal, kOnDiagonal };

struct CoordinateEntry {
  std::uint64_t row = 0;  // counted from 1
  std::uint64_t column = 0;
  double value = 1;
};

class MatrixMarketReader {
 public:
  MatrixMarketReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  template <class Builder>
  CsrMatrix read(typename Builder::How how) {
    header_ = read_matrix_market_header(text_, name_);
    const std::vector<std::string_view> pieces =
        Builder::own_pieces(how, split_at_lines(text_.substr(header_.body_offset), piece_count(text_.size())));

    // In an array, a value's place depends on the number of values before it, so the lines are counted first. Other
    // entries contain their places, so they are counted during reading.
    std::vector<std::uint64_t> first_line;
    if (header_.is_array) {
      first_line = count_lines(pieces);
      const std::uint64_t lines = first_line.back();
      if (Builder::total(how, lines) != header_.entries) explain();
      const std::uint64_t before = Builder::before(how, lines);
      for (std::uint64_t& line : first_line) line += before;
    }
    Builder builder(header_.rows, header_.columns, how, header_.field != Field::kPattern);
    const auto read_all = [&]<class Sink>(bool with_value) {
      const std::uint64_t lines = read_pieces<Sink>(pieces, first_line, with_value, builder);
      if (Builder::total(how, lines) != header_.entries) explain();
    };
    read_all.template operator()<typename Builder::Counter>(false);
    builder.allocate();
    read_all.template operator()<typename Builder::Placer>(true);
    return builder.finish();
  }

  PlaceInText find(const MatrixPlace& place, IsRefused is_refused) {
    header_ = read_matrix_market_header(text_, name_);
    const std::string_view body = text_.substr(header_.body_offset);
    const bool mirror = header_.symmetry != Symmetry::kGeneral;
    const double sign = header_.symmetry == Symmetry::kSkewSymmetric ? -1.0 : 1.0;
    LineChoice choice(is_refused);
    std::uint64_t entries = 0;
    const auto is_meant = [&place](std::uint64_t row, std::uint64_t column) {
      return row - 1 == place.from && (place.what != MatrixPlace::What::kEntry || column - 1 == place.to);
    };
    const auto visit = [&](const CoordinateEntry& entry) {
      if (is_meant(entry.row, entry.column)) {
        choice.add(entries, entry.value);
      } else if (mirror && is_meant(entry.column, entry.row)) {
        choice.add(entries, sign * entry.value);
      }
      ++entries;
    };
    header_.is_array ? for_each_array_value(body, 0, true, visit) : for_each_coordinate(body, true, visit);
    if (choice.lines() == 0) return {};

    const char* const end = text_.data() + text_.size();
    const char* p = skip_to_matrix_market_data(body.data(), end);
    for (std::uint64_t i = 0; i < choice.at(); ++i) p = skip_to_matrix_market_data(skip_line(p, end), end);
    return {.line = line_number(text_, offset_of(p)), .lines = choice.lines()};
  }

 private:
  std::vector<std::uint64_t> count_lines(const std::vector<std::string_view>& pieces) const {
    std::vector<std::uint64_t> first_line(pieces.size() + 1);
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const char* p = pieces[i].data();
      const char* const end = p + pieces[i].size();
      std::uint64_t lines = 0;
      for (; (p = skip_to_matrix_market_data(p, end)) < end; p = skip_line(p, end)) ++lines;
      first_line[i + 1] = lines;
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) first_line[i + 1] += first_line[i];
    return first_line;
  }

  // Reads the line at p up to its end. Returns the position of the line end; or sets `wrong` and returns the position
  // of the offending word. Without values, the rest of the line is only skipped, because a second reading checks it.
  template <Field field, bool with_value>
  const char* parse_entry(const char* p, const char* end, CoordinateEntry& entry, EntryFault& wrong) const noexcept {
    const char* next = parse_unsigned(p, end, entry.row);
    const bool row_is_last = next != nullptr && (next == end || is_line_end(*next));
    if (next == nullptr || !(row_is_last || is_blank(*next)) || entry.row - 1 >= header_.rows) {
      wrong = EntryFault::kRow;
      return p;
    }
    p = skip_blanks(next, end);
    if (p == end || is_line_end(*p)) {
      wrong = EntryFault::kMissing;
      return p;
    }
    next = parse_unsigned(p, end, entry.column);
    if (next == nullptr || (next < end && !is_blank(*next) && !is_line_end(*next)) ||
        entry.column - 1 >= header_.columns) {
      wrong = EntryFault::kColumn;
      return p;
    }
    if (header_.symmetry != Symmetry::kGeneral && entry.column >= entry.row) {
      if (entry.column > entry.row) wrong = EntryFault::kAboveDiagonal;
      if (entry.column == entry.row && header_.symmetry == Symmetry::kSkewSymmetric) wrong = EntryFault::kOnDiagonal;
      if (wrong != EntryFault::kNothing) return p;
    }
    p = skip_blanks(next, end);
    if constexpr (field != Field::kPattern) {
      if (p == end || is_line_end(*p)) {
        wrong = EntryFault::kMissing;
        return p;
      }
      if constexpr (!with_value) return find_line_end(p, end);
      next = field == Field::kInteger ? parse_integer(p, end, entry.value) : parse_real(p, end, entry.value);
      if (next == nullptr || (next < end && !is_blank(*next) && !is_line_end(*next))) {
        wrong = EntryFault::kValue;
        return p;
      }
      p = skip_blanks(next, end);
    }
    if (p < end && !is_line_end(*p)) wrong = EntryFault::kExtra;
    return p;
  }

  template <class Visit>
  bool for_each_coordinate(std::string_view piece, bool with_value, Visit&& visit) const {
    switch (header_.field) {
      case Field::kPattern: return for_each_coordinate_of<Field::kPattern, true>(piece, visit);
      case Field::kInteger:
        return with_value ? for_each_coordinate_of<Field::kInteger, true>(piece, visit)
                          : for_each_coordinate_of<Field::kInteger, false>(piece, visit);
      case Field::kReal: break;
    }
    return with_value ? for_each_coordinate_of<Field::kReal, true>(piece, visit)
                      : for_each_coordinate_of<Field::kReal, false>(piece, visit);
  }

  // Calls visit(entry) for every entry of the piece. Returns false if a line is wrong.
  template <Field field, bool with_value, class Visit>
  bool for_each_coordinate_of(std::string_view piece, Visit&& visit) const {
    const char* p = piece.data();
    const char* const end = p + piece.size();
    CoordinateEntry entry;
    EntryFault wrong = EntryFault::kNothing;
    while (p < end) {
      p = skip_blanks(p, end);
      if (p == end) break;
      if (static_cast<unsigned char>(*p) - unsigned{'0'} > 9) {
        if (is_line_end(*p) || *p == '%') {
          p = skip_line(p, end);
          continue;
        }
        return false;
      }
      p = parse_entry<field, with_value>(p, end, entry, wrong);
      if (wrong != EntryFault::kNothing) return false;
      p = after_line_end(p, end);
      visit(entry);
    }
    return true;
  }

  // An array's values are in column order; a symmetric one has only the part below (and on) the diagonal.
  template <class Visit>
  bool for_each_array_value(std::string_view piece, std::uint64_t first, bool with_value, Visit&& visit) const {
    const bool general = header_.symmetry == Symmetry::kGeneral;
    const std::uint64_t below = header_.symmetry == Symmetry::kSkewSymmetric ? 1 : 0;
    CoordinateEntry entry;
    if (general) {
      entry.column = first / header_.rows + 1;
      entry.row = first % header_.rows + 1;
    } else {
      entry.column = 1;
      std::uint64_t in_column = header_.rows - below;
      for (; in_column > 0 && first >= in_column; --in_column, ++entry.column) first -= in_column;
      entry.row = entry.column + below + first;
    }
    const char* p = piece.data();
    const char* const end = p + piece.size();
    while ((p = skip_to_matrix_market_data(p, end)) < end) {
      if (with_value) {
        const char* next =
            header_.field == Field::kInteger ? parse_integer(p, end, entry.value) : parse_real(p, end, entry.value);
        if (next == nullptr) return false;
        next = skip_blanks(next, end);
        if (next < end && !is_line_end(*next)) return false;
        p = next;
      }
      if (entry.column > header_.columns) return false;
      visit(entry);
      if (++entry.row > header_.rows) {
        ++entry.column;
        entry.row = general ? 1 : entry.column + below;
      }
      p = skip_line(p, end);
    }
    return true;
  }

  // Passes every entry and its mirror to a Sink (the builder's Counter or Placer). Returns the number of lines with an
  // entry, or kWrongLine.
  template <class Sink, class Builder>
  std::uint64_t read_pieces(const std::vector<std::string_view>& pieces, const std::vector<std::uint64_t>& first_line,
                            bool with_value, Builder& builder) const {
    const bool mirror = header_.symmetry != Symmetry::kGeneral;
    const double sign = header_.symmetry == Symmetry::kSkewSymmetric ? -1.0 : 1.0;
    /// Adds the number of the piece's lines to `lines`. Returns false for a wrong line.
    const auto read = [&](std::size_t i, std::uint64_t& lines) {
      Sink sink(builder);
      const auto visit = [&](const CoordinateEntry& entry) {
        ++lines;
        const auto row = static_cast<std::uint32_t>(entry.row - 1);
        const auto column = static_cast<std::uint32_t>(entry.column - 1);
        sink.add(row, column, entry.value);
        if (mirror && row != column) sink.add(column, row, sign * entry.value);
      };
      return header_.is_array ? for_each_array_value(pieces[i], first_line[i], with_value, visit)
                              : for_each_coordinate(pieces[i], with_value, visit);
    };
    bool good = true;
    std::uint64_t lines = 0;
    FirstFailure failure;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : good) reduction(+ : lines)
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!good) continue;
      std::uint64_t piece_lines = 0;
      failure.guard([&] { good = read(i, piece_lines); });
      lines += piece_lines;
    }
    failure.rethrow();
    return good ? lines : kWrongLine;
  }

  // Reads the text again, line by line, up to the first wrong line.
  [[noreturn]] void explain() const {
    const char* p = text_.data() + header_.body_offset;
    const char* const end = text_.data() + text_.size();
    std::uint64_t lines = 0;
    const std::uint64_t size_line = line_number(text_, header_.size_line_offset);
    for (; (p = skip_to_matrix_market_data(p, end)) < end; p = skip_line(p, end), ++lines) {
      if (lines == header_.entries) {
        fail(offset_of(p), quote_line(text_, offset_of(p)),
             fmt::format("no more than the {} entries that line {} announces", lines, size_line));
      }
      CoordinateEntry entry;
      EntryFault wrong = EntryFault::kNothing;
      const char* at = p;
      if (header_.is_array) {
        const char* next =
            header_.field == Field::kInteger ? parse_integer(p, end, entry.value) : parse_real(p, end, entry.value);
        if (next == nullptr || (next < end && !is_blank(*next) && !is_line_end(*next)))
          explain_line(p, EntryFault::kValue);
        at = skip_blanks(next, end);
        if (at < end && !is_line_end(*at)) explain_line(at, EntryFault::kExtra);
        continue;
      }
      switch (header_.field) {
        case Field::kPattern: at = parse_entry<Field::kPattern, true>(p, end, entry, wrong); break;
        case Field::kInteger: at = parse_entry<Field::kInteger, true>(p, end, entry, wrong); break;
        case Field::kReal: at = parse_entry<Field::kReal, true>(p, end, entry, wrong); break;
      }
      if (wrong != EntryFault::kNothing) explain_line(at, wrong);
    }
    if (lines < header_.entries) {
      fail(text_.find_last_not_of(" \t\r\n"), fmt::format("the end of the file after {} entries", lines),
           fmt::format("the {} entries that line {} announces", header_.entries, size_line));
    }
    throw usage_error("{}: the file changed while it was read; start again when no process writes to it", name_);
  }

  [[noreturn]] void explain_line(const char* at, EntryFault wrong) const {
    const std::size_t offset = offset_of(at);
    const std::string word = quote_word(text_, offset);
    switch (wrong) {
      case EntryFault::kRow: fail(offset, word, fmt::format("a row from 1 to {} ({})", header_.rows, expected_line()));
      case EntryFault::kColumn:
        fail(offset, word, fmt::format("a column from 1 to {} ({})", header_.columns, expected_line()));
      case EntryFault::kValue: {
        const std::string_view expected = header_.field == Field::kInteger      ? "a whole number of 64 bits"
                                          : word.find(',') != std::string::npos ? "a number with a decimal point"
                                                                                : "a number within a double's range";
        fail(offset, word, fmt::format("{} ({})", expected, expected_line()));
      }
      case EntryFault::kAboveDiagonal:
        fail(offset, quote_line(text_, offset),
             "entries on or below the diagonal in a symmetric matrix (row >= column)");
      case EntryFault::kOnDiagonal:
        fail(offset, quote_line(text_, offset), "entries below the diagonal in a skew-symmetric matrix (row > column)");
      case EntryFault::kMissing: fail(offset, quote_line(text_, offset), expected_line());
      case EntryFault::kExtra:
      case EntryFault::kNothing: break;
    }
    fail(offset, word + " after the entry", expected_line() + " and the end of the line");
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& found, std::string_view expected) const {
    fail_at(text_, name_, offset, found, expected);
  }
  std::size_t offset_of(const char* p) const {
    return static_cast<std::size_t>(p - text_.data());
  }
  std::string expected_line() const {
    if (header_.is_array) return "one number per line";
    return header_.field == Field::kPattern ? "'row column'" : "'row column value'";
  }

  std::string_view text_;
  const std::string& name_;
  MatrixMarketHeader header_;
};

}  // namespace

PlaceInText find_in_matrix_market(std::string_view text, const MatrixPlace& place, IsRefused is_refused) {
  if (place.what == MatrixPlace::What::kRow) return {};
  return MatrixMarketReader(text, "").find(place, is_refused);
}

CsrMatrix read_matrix_market(std::string_view text, const std::string& name, Orientation orientation) {
  return MatrixMarketReader(text, name).read<CsrBuilder>(orientation);
}

CsrMatrix read_matrix_market_share(std::string_view text, const std::string& name, SharedBuilder::How how) {
  return MatrixMarketReader(text, name).read<SharedBuilder>(how);
}

}  // namespace ringside
