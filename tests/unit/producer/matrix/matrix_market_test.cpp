// SPDX-License-Identifier: BSD-3-Clause
// Random matrices must be equal after writing and reading, in every variant and with every line ending that the reader
// accepts. Also tests the texts that the reader refuses.
#include "producer/matrix/matrix_market.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/producer/openmp_threads.hpp"

namespace ringside {
namespace {

using testing::Entries;
using testing::entries_of;

using Dictionary = std::map<std::pair<std::uint64_t, std::uint64_t>, double>;

struct Variant {
  std::string format, field, symmetry;
};

std::vector<Variant> all_variants() {
  std::vector<Variant> variants;
  for (const char* symmetry : {"general", "symmetric", "skew-symmetric"}) {
    for (const char* field : {"real", "double", "integer"}) {
      variants.push_back({"coordinate", field, symmetry});
      variants.push_back({"array", field, symmetry});
    }
  }
  variants.push_back({"coordinate", "pattern", "general"});
  variants.push_back({"coordinate", "pattern", "symmetric"});
  return variants;
}

// A random matrix with the variant's symmetry, as (row, column) -> value, without zeros.
Dictionary random_matrix(const Variant& variant, std::uint64_t rows, std::uint64_t columns, std::mt19937_64& random) {
  Dictionary matrix;
  const bool general = variant.symmetry == "general";
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (std::uint64_t j = 0; j < (general ? columns : i + 1); ++j) {
      if (random() % 3 != 0 || (variant.symmetry == "skew-symmetric" && i == j)) continue;
      double value = 1;
      if (variant.field == "integer") value = static_cast<double>(static_cast<std::int64_t>(random() % 2001) - 1000);
      if (variant.field == "real" || variant.field == "double") {
        value = std::ldexp(static_cast<double>(random() >> 11), -static_cast<int>(random() % 120)) *
                (random() % 2 ? 1 : -1);
      }
      if (value == 0) continue;
      matrix[{i, j}] = value;
      if (!general && i != j) matrix[{j, i}] = variant.symmetry == "symmetric" ? value : -value;
    }
  }
  return matrix;
}

std::string written(const Variant& variant, std::uint64_t rows, std::uint64_t columns, const Dictionary& matrix,
                    std::mt19937_64& random) {
  const bool general = variant.symmetry == "general";
  const auto is_stored = [&](std::uint64_t i, std::uint64_t j) {
    return general || i > j || (i == j && variant.symmetry == "symmetric");
  };
  std::vector<std::string> lines;
  if (variant.format == "array") {
    for (std::uint64_t j = 0; j < columns; ++j) {
      for (std::uint64_t i = 0; i < rows; ++i) {
        const auto entry = matrix.find({i, j});
        if (is_stored(i, j)) lines.push_back(fmt::format("{}", entry == matrix.end() ? 0.0 : entry->second));
      }
    }
  } else {
    for (const auto& [place, value] : matrix) {
      if (!is_stored(place.first, place.second)) continue;
      const std::string where = fmt::format("{} {}", place.first + 1, place.second + 1);
      lines.push_back(variant.field == "pattern" ? where : fmt::format("{} {}", where, value));
    }
    std::shuffle(lines.begin(), lines.end(), random);
  }
  std::string text =
      fmt::format("%%MatrixMarket matrix {} {} {}\n% a comment\n\n", variant.format, variant.field, variant.symmetry);
  text += variant.format == "array" ? fmt::format("{} {}\n", rows, columns)
                                    : fmt::format("{} {} {}\n", rows, columns, lines.size());
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::string with_line_end(std::string_view text, std::string_view line_end) {
  std::string changed;
  for (const char& c : text) changed += c == '\n' ? line_end : std::string_view(&c, 1);
  return changed;
}

Entries transposed_or_not(const Dictionary& matrix, Orientation orientation) {
  Dictionary turned;
  for (const auto& [place, value] : matrix) {
    turned[orientation == Orientation::kRows ? place : std::make_pair(place.second, place.first)] = value;
  }
  Entries entries;
  for (const auto& [place, value] : turned) entries.emplace_back(place.first, place.second, value);
  return entries;
}

CsrMatrix read_market(std::string_view text, Orientation orientation = Orientation::kRows) {
  return read_matrix_market(text, "a.mtx", orientation);
}

std::string market_error(std::string_view text) {
  return failure_line([&] { read_market(text); });
}

TEST(MatrixMarket, WhatWasWrittenIsReadInEveryVariantOrientationAndLineEnding) {
  std::mt19937_64 random(1);
  for (const Variant& variant : all_variants()) {
    for (int repeat = 0; repeat < 8; ++repeat) {
      const std::uint64_t rows = 1 + random() % 60;
      const std::uint64_t columns = variant.symmetry == "general" ? 1 + random() % 60 : rows;
      const Dictionary matrix = random_matrix(variant, rows, columns, random);
      const std::string text = written(variant, rows, columns, matrix, random);
      SCOPED_TRACE(text.substr(0, 300));
      for (const Orientation orientation : {Orientation::kRows, Orientation::kInLinks}) {
        const CsrMatrix lf = read_market(text, orientation);
        EXPECT_EQ(lf.rows, orientation == Orientation::kRows ? rows : columns);
        EXPECT_EQ(lf.columns, orientation == Orientation::kRows ? columns : rows);
        EXPECT_EQ(entries_of(lf), transposed_or_not(matrix, orientation));
        EXPECT_EQ(lf.value.empty(), variant.field == "pattern" || matrix.empty());
        testing::expect_same_matrix(read_market(with_line_end(text, "\r\n"), orientation), lf);
        testing::expect_same_matrix(read_market(with_line_end(text, "\r"), orientation), lf);
      }
    }
  }
}

TEST(MatrixMarket, TheMatrixIsTheSameForEveryNumberOfThreads) {
  // The text is large enough for many pieces, and has duplicates whose sum depends on the order of the additions.
  std::mt19937_64 random(2);
  std::string text = "%%MatrixMarket matrix coordinate real general\n300 300 60000\n";
  for (int i = 0; i < 60000; ++i) {
    text += fmt::format("{} {} {}\n", 1 + random() % 300, 1 + random() % 300,
                        std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 90)) - 1e5);
  }
  const testing::OpenMpThreads one_at_first(1);
  const CsrMatrix one = read_market(text, Orientation::kInLinks);
  for (const int threads : {2, 3, 5, 8}) {
    omp_set_num_threads(threads);
    SCOPED_TRACE(threads);
    testing::expect_same_matrix(read_market(text, Orientation::kInLinks), one);
  }
  EXPECT_LT(one.nonzeros(), 60000u);
}

TEST(MatrixMarket, DuplicatesAreAddedUpInAscendingMagnitude) {
  const std::string four = "%%MatrixMarket matrix coordinate real general\n1 1 4\n";
  // If the smallest value is added first, the two ones count. In the other order, the sum with 1e16 would lose each of
  // them by rounding.
  ASSERT_NE(1e16 + 1.0 + 1.0, (1.0 + 1.0) + 1e16);
  EXPECT_EQ(entries_of(read_market(four + "1 1 1e16\n1 1 1\n1 1 1\n1 1 0\n")), (Entries{{0, 0, (1.0 + 1.0) + 1e16}}));
  // If magnitudes are equal, the negative value is added first.
  EXPECT_EQ(entries_of(read_market(four + "1 1 1e16\n1 1 1\n1 1 -1e16\n1 1 2\n")),
            (Entries{{0, 0, (3.0 - 1e16) + 1e16}}));
}

TEST(MatrixMarket, DuplicatesInAPatternCollapse) {
  const CsrMatrix matrix = read_market("%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 2\n1 2\n2 1\n");
  EXPECT_EQ(entries_of(matrix), (Entries{{0, 1, 1}, {1, 0, 1}}));
}

TEST(MatrixMarket, ZerosAreDroppedAlsoThoseThatComeOutOfASum) {
  const CsrMatrix matrix =
      read_market("%%MatrixMarket matrix coordinate real general\n2 2 5\n1 1 0\n1 2 3\n2 2 7\n1 2 -3\n2 1 -0.0\n");
  EXPECT_EQ(entries_of(matrix), (Entries{{1, 1, 7}}));
}

TEST(MatrixMarket, AMatrixMayHaveNoEntries) {
  const CsrMatrix matrix = read_market("%%MatrixMarket matrix coordinate real general\n3 4 0");
  EXPECT_EQ(matrix.rows, 3u);
  EXPECT_EQ(matrix.columns, 4u);
  EXPECT_EQ(matrix.nonzeros(), 0u);
  EXPECT_EQ(matrix.row_begin[3], 0u);
}

TEST(MatrixMarket, TheBannerIsReadInAnyCaseAndCommentsStandAnywhere) {
  const CsrMatrix matrix = read_market(
      "  %%MATRIXMARKET Matrix COORDINATE Pattern General \n%%GraphBLAS type double\n\n 2\t2 1 \n%x\n 2 1 \n\n%y");
  EXPECT_EQ(entries_of(matrix), (Entries{{1, 0, 1}}));
}

TEST(MatrixMarket, NumbersAreReadToTheLastBit) {
  const std::vector<std::pair<std::string, double>> numbers = {
      {"0.1", 0.1},
      {"+2.5", 2.5},
      {".5", 0.5},
      {"5.", 5},
      {"-1e-3", -1e-3},
      {"1E+05", 1e5},
      {"123456789012345678", 123456789012345678.0},
      {"0.000000000000001", 1e-15},
      {"9007199254740993", 9007199254740992.0},
      {"1.7976931348623157e308", std::numeric_limits<double>::max()},
      {"5e-324", 5e-324},
      {"1.0D+00", 1},
      {"-2.5d-1", -0.25},
      {"+.5D3", 500},
      {"1D5", 1e5},
      {"0.12345678901234567D-02", 0.12345678901234567e-2},
      {"1.7976931348623157D+308", std::numeric_limits<double>::max()},
      {"0.5-300", 0.5e-300},
      {"-1.25+100", -1.25e100},
      {"inf", std::numeric_limits<double>::infinity()},
      {"-Infinity", -std::numeric_limits<double>::infinity()}};
  for (const auto& [text, value] : numbers) {
    const CsrMatrix matrix = read_market("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 " + text);
    EXPECT_EQ(entries_of(matrix), (Entries{{0, 0, value}})) << text;
  }
  EXPECT_TRUE(std::isnan(read_market("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 NaN\n").value[0]));
  EXPECT_EQ(read_market("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e-400\n").nonzeros(), 0u);
  EXPECT_EQ(read_market("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1d-400\n").nonzeros(), 0u);
  const std::string integer = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 ";
  EXPECT_EQ(read_market(integer + "18446744073709551615").value[0], 18446744073709551615.0);
  EXPECT_EQ(read_market(integer + "-9223372036854775808").value[0], -9223372036854775808.0);
  expect_has(market_error(integer + "-9223372036854775809"), {"a whole number of 64 bits"});
  expect_has(market_error(integer + "1.5"), {"line 3: found '1.5'"});
}

TEST(MatrixMarket, TheFirstWrongLineIsNamedWhateverIsWrongFurtherDown) {
  std::string text = "%%MatrixMarket matrix coordinate real general\n9 9 40000\n";
  for (int i = 0; i < 40000; ++i) text += i == 31000 ? "1 1 one\n" : i == 39000 ? "10 1 1\n" : "1 1 1\n";
  for (const int threads : {1, 2, 5}) {
    const testing::OpenMpThreads some(threads);
    expect_has(market_error(text), {"a.mtx: line 31003: found 'one', expected a number"});
  }
}

TEST(MatrixMarket, EachWayToBeWrongHasItsLine) {
  const std::string general = "%%MatrixMarket matrix coordinate real general\n";
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n";
  const std::string array = "%%MatrixMarket matrix array real general\n";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "line 1: found the end of the file, expected '%%MatrixMarket matrix"},
      {general, "line 2: found the end of the file, expected the size line"},
      {general + "2 2\n", "line 2: found '2 2', expected the size line 'rows columns entries'"},
      {general + "2 2 1 1\n", "line 2: found '2 2 1 1'"},
      {general + "2 x 1\n", "line 2: found 'x', expected a whole number"},
      {general + "0 0 0\n", "line 2: found '0 0 0', expected at least one row"},
      {general + "4294967296 1 0\n", "expected at most 8388608 rows"},
      {general + "99999999999999999999 1 0\n", "line 2: found '99999999999999999999'"},
      {general + "2 2 1\n", "line 2: found the end of the file after 0 entries, expected the 1 entries"},
      {general + "2 2 18446744073709551615\n1 1 1\n", "line 3: found the end of the file after 1 entries"},
      {general + "2 2 1\n1 1 1\n\n2 2 1\n", "line 5: found '2 2 1', expected no more than the 1 entries that line 2"},
      {general + "2 2 1\n3 1 1\n", "line 3: found '3', expected a row from 1 to 2"},
      {general + "2 2 1\n1 1.5 1\n", "line 3: found '1.5', expected a column from 1 to 2"},
      {general + "2 2 1\n1 1 1 % note\n", "line 3: found '%' after the entry"},
      {general + "2 2 1\n1 1 1e999\n", "line 3: found '1e999', expected a number within a double's range"},
      {general + "2 2 1\n1 1 1e3D+03\n", "line 3: found '1e3D+03', expected a number within a double's range"},
      {general + "2 2 1\n1 1 1.0D\n", "line 3: found '1.0D'"},
      {general + "2 2 1\n1 1 1.0D+400\n", "line 3: found '1.0D+400'"},
      {general + "2 2 1\n1 1 infD+1\n", "line 3: found 'infD+1'"},
      {general + "2 2 1\n1 1 2026-100\n", "line 3: found '2026-100'"},
      {general + "2 2 1\n1 1 1.5-10\n", "line 3: found '1.5-10'"},
      {general + "2 2 1\n1 2 1,5\n", "line 3: found '1,5', expected a number with a decimal point ("},
      {general + "2 2 1\n1 1 +-1\n", "line 3: found '+-1'"},
      {symmetric + "2 2 1\n1 2 1\n", "line 3: found '1 2 1', expected entries on or below the diagonal"},
      {skew + "2 2 1\n2 2 1\n", "line 3: found '2 2 1', expected entries below the diagonal"},
      {skew + "2 3 0\n", "line 2: found 2 rows and 3 columns, expected as many rows as columns"},
      {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
       "line 1: found 'skew-symmetric', expected 'general' or"},
      {array + "1 2\n1\n", "line 3: found the end of the file after 1 entries, expected the 2 entries"},
      {array + "1 2\n1\n2\n3\n", "line 5: found '3', expected no more than the 2 entries"},
      {array + "1 2\n1 2\n", "line 3: found '2' after the entry, expected one number per line"},
      {array + "8000000 8000000\n1\n", "line 3: found the end of the file after 1 entries"}};
  for (const auto& [text, message] : wrong) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(market_error(text).starts_with("a.mtx: line "));
    expect_has(market_error(text), {message});
  }
}

TEST(MatrixMarket, UnprintableAndLongTextIsQuotedSafely) {
  const std::string error =
      market_error("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 \x1b[2J" + std::string(500, 'x'));
  expect_has(error, {"'?[2Jxxx"});
  EXPECT_LT(error.size(), 250u);
}

}  // namespace
}  // namespace ringside
