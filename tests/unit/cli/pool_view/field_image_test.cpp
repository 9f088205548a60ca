// SPDX-License-Identifier: BSD-3-Clause
// Two-dimensional fields as images. Tests which variables are such fields, that no shape and no value makes an image
// larger than its limit, and that outliers of a field remain visible in the image.
#include "cli/pool_view/field_image.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "cli/pool_view/field_image_json.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();

FieldGrid grid(std::uint64_t rows, std::uint64_t columns, DType dtype = DType::kF64) {
  return {.variable = 0, .name = "u", .unit = "", .dtype = dtype, .rows = rows, .columns = columns};
}

template <class T>
FieldImage drawn(const FieldGrid& of, const std::vector<T>& values, CellShows shows = CellShows::kExtreme) {
  return image_of(of, std::as_bytes(std::span(values)), shows);
}

std::vector<std::string> names_of(const std::vector<FieldGrid>& grids) {
  std::vector<std::string> names;
  for (const FieldGrid& one : grids) names.push_back(one.name);
  return names;
}

TEST(FieldGridTest, AFieldHasTwoDimensionsOrThreeOfWhichOneIsFlat) {
  const Schema schema = Schema::of({{.name = "p", .dtype = DType::kF64, .shape = {7, 5}, .role = Role::kState},
                                    {.name = "line", .dtype = DType::kF64, .shape = {25}},
                                    {.name = "u", .dtype = DType::kC64, .shape = {200, 300}},
                                    {.name = "flat", .dtype = DType::kI8, .shape = {9, 1, 4}},
                                    {.name = "thick", .dtype = DType::kF64, .shape = {2, 3, 4}},
                                    {.name = "one", .dtype = DType::kF64, .shape = {}}});
  EXPECT_EQ(names_of(grids_of(schema, "file.mtx")), (std::vector<std::string>{"u", "flat", "p"}));
  EXPECT_EQ(names_of(grids_of(schema, "grid:5")), (std::vector<std::string>{"line", "u", "flat", "p"}));
  const FieldGrid flat = grids_of(schema, "")[1];
  EXPECT_EQ(flat.variable, 3u);
  EXPECT_EQ(flat.rows, 9u);
  EXPECT_EQ(flat.columns, 4u);
  for (const char* matrix : {"grid:", "grid:-5", "grid:5x", "grid:4294967296", "grid:99999999999999999999", "rmat:5"}) {
    EXPECT_EQ(names_of(grids_of(schema, matrix)).front(), "u") << matrix;
  }
}

TEST(FieldImageTest, ASmallFieldIsShownEntryByEntry) {
  const FieldImage image = drawn(grid(2, 3), std::vector<double>{0, 1, 2, 3, 4, 10});
  EXPECT_EQ(image.rows, 2u);
  EXPECT_EQ(image.columns, 3u);
  EXPECT_EQ(image.min, 0);
  EXPECT_EQ(image.max, 10);
  EXPECT_EQ(image.cells, (std::vector<std::uint8_t>{0, 25, 51, 76, 102, 254}));
}

TEST(FieldImageTest, NoShapeExceedsTheBound) {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> shapes = {
      {1, 1}, {1, 100'000}, {100'000, 1}, {255, 257}, {256, 256}, {257, 255}, {1000, 999}, {3, 70'001}};
  for (const auto& [rows, columns] : shapes) {
    std::vector<float> values(rows * columns);
    std::iota(values.begin(), values.end(), 0.0f);
    const FieldImage image = drawn(grid(rows, columns, DType::kF32), values);
    EXPECT_EQ(image.rows, std::min<std::uint64_t>(rows, 256)) << rows << " x " << columns;
    EXPECT_EQ(image.columns, std::min<std::uint64_t>(columns, 256)) << rows << " x " << columns;
    ASSERT_EQ(image.cells.size(), std::size_t{image.rows} * image.columns);
    EXPECT_LE(image.cells.size(), 65'536u);
    EXPECT_EQ(image.max, static_cast<double>(values.back()));
    EXPECT_TRUE(std::is_sorted(image.cells.begin(), image.cells.begin() + image.columns));
    EXPECT_EQ(image.not_finite, 0u);
  }
}

TEST(FieldImageTest, OneHotOrColdEntryOfAMillionIsSeen) {
  for (const double value : {5.0, -5.0}) {
    std::vector<double> values(1'000'000, 0.5);
    values[123'457] = value;
    const FieldImage image = drawn(grid(1000, 1000), values);
    const std::uint8_t level = value > 0 ? FieldImage::kHighest : 0;
    EXPECT_EQ(std::count(image.cells.begin(), image.cells.end(), level), 1);
    EXPECT_EQ(image.cells[31 * 256 + 117], level) << "row 123 is in 121 to 124, column 457 in 457 to 460";
    const FieldImage means = drawn(grid(1000, 1000), values, CellShows::kMean);
    EXPECT_EQ(std::count(means.cells.begin(), means.cells.end(), level), 0) << "a mean hides it";
    EXPECT_EQ(value > 0 ? means.max : means.min, value) << "but the legend does not";
  }
}

TEST(FieldImageTest, ACellShowsTheMeanOfItsBlock) {
  std::vector<double> values;
  for (int row = 0; row < 512; ++row) {
    for (int column = 0; column < 512; ++column) values.push_back(column % 2 == 0 ? 0 : 254);
  }
  for (const std::uint8_t cell : drawn(grid(512, 512), values, CellShows::kMean).cells) ASSERT_EQ(cell, 127);
}

TEST(FieldImageTest, OneEntryThatIsNotFiniteIsSeenAndCounted) {
  for (const double value : {kNaN, kInf, -kInf}) {
    std::vector<double> values(600 * 600, 1);
    values[0] = 0;
    values[599 * 600 + 599] = value;
    const FieldImage image = drawn(grid(600, 600), values);
    EXPECT_EQ(image.not_finite, 1u);
    EXPECT_EQ(image.cells.back(), FieldImage::kNotFinite);
    EXPECT_EQ(std::count(image.cells.begin(), image.cells.end(), FieldImage::kNotFinite), 1);
    EXPECT_EQ(image.min, 0);
    EXPECT_EQ(image.max, 1);
  }
}

TEST(FieldImageTest, AFieldWithoutAFiniteEntryHasNoRange) {
  const FieldImage image = drawn(grid(300, 300), std::vector<double>(90'000, kNaN));
  EXPECT_TRUE(std::isnan(image.min));
  EXPECT_TRUE(std::isnan(image.max));
  EXPECT_EQ(image.not_finite, 90'000u);
  EXPECT_EQ(image.cells, std::vector<std::uint8_t>(65'536, FieldImage::kNotFinite));
  const auto described = to_json(grid(300, 300), {image, 7, 7, ""}, CellShows::kExtreme);
  EXPECT_TRUE(described["min"].is_null());
  EXPECT_EQ(described["cells"].get<std::string>().size(), 87'384u);
}

TEST(FieldImageTest, TheLargestDoublesDoNotOverflow) {
  std::vector<double> values(1024 * 512, kLargest);
  std::fill(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), -kLargest);
  for (const CellShows shows : {CellShows::kExtreme, CellShows::kMean}) {
    const FieldImage image = drawn(grid(1024, 512), values, shows);
    EXPECT_EQ(image.min, -kLargest);
    EXPECT_EQ(image.max, kLargest);
    EXPECT_EQ(image.cells.front(), 0);
    EXPECT_EQ(image.cells.back(), FieldImage::kHighest);
  }
}

TEST(FieldImageTest, AConstantFieldHasOneLevel) {
  const FieldImage image = drawn(grid(4, 4), std::vector<double>(16, 3.5));
  EXPECT_EQ(image.cells, std::vector<std::uint8_t>(16, FieldImage::kHighest / 2));
  EXPECT_EQ(image.min, 3.5);
  EXPECT_EQ(image.max, 3.5);
}

TEST(FieldImageTest, EveryDTypeIsDrawn) {
  const auto check = [](DType dtype, auto low, auto high) {
    const std::vector<decltype(low)> values = {low, high};
    const FieldImage image = drawn(grid(1, 2, dtype), values);
    EXPECT_EQ(image.cells, (std::vector<std::uint8_t>{0, FieldImage::kHighest})) << to_string(dtype);
  };
  check(DType::kF32, -1.0f, 2.0f);
  check(DType::kF64, -1.0, 2.0);
  check(DType::kI8, std::int8_t{-128}, std::int8_t{127});
  check(DType::kI16, std::int16_t{-9}, std::int16_t{9});
  check(DType::kI32, std::int32_t{-9}, std::int32_t{9});
  check(DType::kI64, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  check(DType::kU8, std::uint8_t{0}, std::uint8_t{255});
  check(DType::kU16, std::uint16_t{1}, std::uint16_t{9});
  check(DType::kU32, std::uint32_t{1}, std::uint32_t{9});
  check(DType::kU64, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max());
  check(DType::kC64, std::complex<float>(0.6f, 0.8f), std::complex<float>(3, -4));
  check(DType::kC128, std::complex<double>(0.6, 0.8), std::complex<double>(3, -4));
}

TEST(FieldImageTest, AComplexEntryCountsWithItsModulus) {
  const std::vector<std::complex<double>> values = {{3, -4}, {0, -1}, {kLargest, kLargest}, {0, kNaN}};
  const FieldImage image = drawn(grid(2, 2, DType::kC128), values);
  EXPECT_EQ(image.min, 1);
  EXPECT_EQ(image.max, 5);
  EXPECT_EQ(image.not_finite, 2u);
}

TEST(FieldImageTest, EntriesThatComeInPiecesMakeTheSameImage) {
  for (const auto& [rows, columns] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{{300, 401}, {3, 5}, {1, 9000}, {9000, 1}}) {
    std::vector<float> values(rows * columns);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7919 % 10'007);
    values[values.size() / 2] = std::numeric_limits<float>::infinity();
    const FieldGrid of = grid(rows, columns, DType::kF32);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, values.size()}) {
      FieldImageMaker maker(of);
      for (std::size_t at = 0; at < values.size(); at += piece) {
        maker.add(std::as_bytes(std::span(values).subspan(at, std::min(piece, values.size() - at))));
      }
      for (const CellShows shows : {CellShows::kExtreme, CellShows::kMean}) {
        const FieldImage whole = drawn(of, values, shows);
        const FieldImage made = maker.image(shows);
        EXPECT_EQ(made.cells, whole.cells) << rows << " x " << columns << " in pieces of " << piece;
        EXPECT_EQ(made.min, whole.min);
        EXPECT_EQ(made.max, whole.max);
        EXPECT_EQ(made.not_finite, 1u);
      }
    }
  }
}

TEST(FieldImageTest, BytesThatAreNotThoseOfTheGridAreRefused) {
  const std::vector<double> values(6);
  EXPECT_THROW(drawn(grid(2, 4), values), Error);
  EXPECT_THROW(drawn(grid(2, 2), values), Error);
  EXPECT_THROW(FieldImageMaker(grid(2, 3)).add(std::as_bytes(std::span(values)).first(47)), Error);
  EXPECT_THROW(drawn(grid(0, 0), std::vector<double>()), Error);
}

TEST(FieldImageTest, ItsBytesAreWrittenInBase64) {
  const auto encoded = [](std::string_view text) {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(text.data());
    return base64({begin, text.size()});
  };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xff\xfe"), "//4=");
}

}  // namespace
}  // namespace ringside
