// SPDX-License-Identifier: BSD-3-Clause
// The tables of points that are accepted, and the lines that are refused. tests/export tests files that NumPy itself
// has written.
#include "cli/export/point_file.hpp"

#include <gtest/gtest.h>

#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using Points = std::vector<double>;

class PointFileTest : public ::testing::Test {
 protected:
  Points read(std::string_view content) const { return read_points(folder_.write("points", content)); }
  std::string refusal(std::string_view content) const {
    return failure_line([&] { read(content); });
  }

  testing::TemporaryFolder folder_;
};

TEST_F(PointFileTest, CommasBlanksHeadsAndEmptyLinesAreAccepted) {
  const Points expected = {1, 2, 0, -0.5, 1e3, 0};
  for (const char* text :
       {"1,2\n-0.5,1e3\n", "1 2\n-0.5 1e3", "x,y\n1,2\n-0.5,1e3\n", " 1 ,\t2 \r\n\n-0.5,  1000\r\n"}) {
    EXPECT_EQ(read(text), expected) << text;
  }
  EXPECT_EQ(read("1,2,3\n4 5 6\n"), (Points{1, 2, 3, 4, 5, 6}));
}

TEST_F(PointFileTest, ALineOfAnotherFormIsRefusedByItsNumber) {
  expect_has(refusal("1\n"), {"line 1", "two or three"});
  expect_has(refusal("1,2\n1,2,3\n"), {"line 2: found '1,2,3', expected two numbers"});
  expect_has(refusal("1,2,3\n\n1,2\n"), {"line 3: found '1,2', expected three numbers"});
  for (const char* text : {"1\n", "1,2,3,4\n", "1,2\n1;2\n", "1,2\n1,\n", "1,2\n1,2,\n", "1,2\n,1,2\n", "x,y\n", ""}) {
    EXPECT_NE(refusal(text), "") << text;
  }
}

TEST_F(PointFileTest, AnNpyThatIsCutOffOrLiesOfItsLengthIsRefused) {
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
  const auto npy = [](const std::string& head, std::size_t data_bytes) {
    const char length[] = {static_cast<char>(head.size()), 0};
    return std::string("\x93NUMPY\x01\x00", 8) + std::string(length, 2) + head + std::string(data_bytes, '\0');
  };
  EXPECT_EQ(read(npy(header, 32)), Points(6, 0.0));
  for (const std::size_t bytes : {0u, 31u, 33u, 48u}) EXPECT_NE(refusal(npy(header, bytes)), "") << bytes;
  EXPECT_NE(refusal(npy(header, 0).substr(0, 30)), "");
  expect_has(refusal("\x93NUMPY"), {"cut off"});
  for (const char* shape : {"(18446744073709551615, 2)", "(2,)", "(2, 2, 1)", "(-2, 2)", "(2, 4)"}) {
    EXPECT_NE(refusal(npy(std::string("{'descr': '<f8', 'fortran_order': False, 'shape': ") + shape + ", }", 32)), "")
        << shape;
  }
}

}  // namespace
}  // namespace ringside
