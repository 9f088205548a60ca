// SPDX-License-Identifier: BSD-3-Clause
// Reads the banner and the size line word by word, with a message for each kind of error.
#include "producer/matrix/matrix_market_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "producer/matrix/csr_builder.hpp"
#include "producer/text/text_scan.hpp"

namespace ringside {
namespace {

using Field = MatrixMarketHeader::Field;
using Symmetry = MatrixMarketHeader::Symmetry;

constexpr std::string_view kBanner = "%%MatrixMarket";
constexpr std::string_view kAccepted =
    "'%%MatrixMarket matrix coordinate|array real|double|integer|pattern general|symmetric|skew-symmetric'";

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    return lower(x) == lower(y);
  });
}

// At most the first six words of a line; every header line has fewer.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  const char* p = line.data();
  const char* const end = p + line.size();
  constexpr std::size_t kEnough = 6;
  while (words.size() < kEnough && (p = skip_blanks(p, end)) < end) {
    const char* last = p;
    while (last < end && !is_blank(*last)) ++last;
    words.emplace_back(p, static_cast<std::size_t>(last - p));
    p = last;
  }
  return words;
}

class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  MatrixMarketHeader read() {
    const char* const end = text_.data() + text_.size();
    const char* const begin = skip_blanks(text_.data(), end);
    const char* p = find_line_end(begin, end);
    read_banner({begin, static_cast<std::size_t>(p - begin)});
    p = skip_to_matrix_market_data(after_line_end(p, end), end);
    header_.size_line_offset = offset_of(p);
    read_sizes(header_.size_line_offset);
    header_.body_offset = offset_of(skip_line(p, end));
    return header_;
  }

 private:
  void read_banner(std::string_view line) {
    const std::size_t at = offset_of(line.data());
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || !equal_ignoring_case(words[0], kBanner)) fail(at, quote_line(text_, at), kAccepted);
    if (words.size() != 5) fail(at, quote_line(text_, at), kAccepted);
    const auto refuse = [&](std::string_view word, std::string_view expected) {
      const std::size_t offset = offset_of(word.data());
      fail(offset, quote_word(text_, offset), expected);
    };
    if (!equal_ignoring_case(words[1], "matrix")) refuse(words[1], "'matrix' (vectors are not read)");
    header_.is_array = equal_ignoring_case(words[2], "array");
    if (!header_.is_array && !equal_ignoring_case(words[2], "coordinate")) refuse(words[2], "'coordinate' or 'array'");
    if (equal_ignoring_case(words[3], "real") || equal_ignoring_case(words[3], "double")) {
      header_.field = Field::kReal;
    } else if (equal_ignoring_case(words[3], "integer")) {
      header_.field = Field::kInteger;
    } else if (equal_ignoring_case(words[3], "pattern") && !header_.is_array) {
      header_.field = Field::kPattern;
    } else {
      refuse(words[3], header_.is_array ? "'real', 'double' or 'integer' in an array"
                                        : "'real', 'double', 'integer' or 'pattern'");
    }
    if (equal_ignoring_case(words[4], "symmetric")) {
      header_.symmetry = Symmetry::kSymmetric;
    } else if (equal_ignoring_case(words[4], "skew-symmetric") && header_.field != Field::kPattern) {
      header_.symmetry = Symmetry::kSkewSymmetric;
    } else if (!equal_ignoring_case(words[4], "general")) {
      refuse(words[4], header_.field == Field::kPattern ? "'general' or 'symmetric' in a pattern"
                                                        : "'general', 'symmetric' or 'skew-symmetric'");
    }
  }

  void read_sizes(std::size_t offset) {
    const std::string_view expected =
        header_.is_array ? "the size line 'rows columns'" : "the size line 'rows columns entries'";
    const char* const begin = text_.data() + offset;
    const char* const end = text_.data() + text_.size();
    const std::vector<std::string_view> words =
        words_of({begin, static_cast<std::size_t>(find_line_end(begin, end) - begin)});
    if (words.size() != (header_.is_array ? 2 : 3)) fail(offset, quote_line(text_, offset), expected);
    std::uint64_t numbers[3] = {};
    for (std::size_t i = 0; i < words.size(); ++i) {
      const char* const last = words[i].data() + words[i].size();
      if (parse_unsigned(words[i].data(), last, numbers[i]) != last) {
        fail(offset, quote_word(text_, offset_of(words[i].data())), "a whole number from 0 up in the size line");
      }
    }
    header_.rows = numbers[0];
    header_.columns = numbers[1];
    header_.entries = numbers[2];
    const std::uint64_t most = most_announced_rows(text_.size());
    if (std::max(header_.rows, header_.columns) > most) {
      fail(offset, quote_line(text_, offset), fmt::format("at most {} rows and columns in a text of this size", most));
    }
    if (header_.rows == 0 || header_.columns == 0)
      fail(offset, quote_line(text_, offset), "at least one row and one column");
    if (header_.symmetry != Symmetry::kGeneral && header_.rows != header_.columns) {
      fail(offset, fmt::format("{} rows and {} columns", header_.rows, header_.columns),
           "as many rows as columns in a symmetric matrix");
    }
    if (header_.is_array) {
      // The product is below 2^64, because rows and columns passed the 32-bit check.
      header_.entries = header_.rows * header_.columns;
      if (header_.symmetry != Symmetry::kGeneral) {
        header_.entries =
            header_.rows * (header_.rows - 1) / 2 + (header_.symmetry == Symmetry::kSymmetric ? header_.rows : 0);
      }
    }
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& found, std::string_view expected) const {
    fail_at(text_, name_, offset, found, expected);
  }
  std::size_t offset_of(const char* p) const { return static_cast<std::size_t>(p - text_.data()); }

  std::string_view text_;
  const std::string& name_;
  MatrixMarketHeader header_;
};

}  // namespace

const char* skip_to_matrix_market_data(const char* p, const char* end) noexcept {
  while (p < end) {
    p = skip_blanks(p, end);
    if (p < end && *p != '%' && !is_line_end(*p)) return p;
    p = skip_line(p, end);
  }
  return end;
}

bool has_matrix_market_banner(std::string_view text) {
  const char* const begin = skip_blanks(text.data(), text.data() + text.size());
  const std::string_view rest = text.substr(static_cast<std::size_t>(begin - text.data()));
  return rest.size() >= kBanner.size() && equal_ignoring_case(rest.substr(0, kBanner.size()), kBanner);
}

MatrixMarketHeader read_matrix_market_header(std::string_view text, const std::string& name) {
  return HeaderReader(text, name).read();
}

}  // namespace ringside
