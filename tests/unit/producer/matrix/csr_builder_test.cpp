// SPDX-License-Identifier: BSD-3-Clause
// The costs and guarantees of building a matrix: memory, long rows, inputs that change. Also tests the checks that are
// made before a solver starts.
#include "producer/matrix/csr_builder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "producer/matrix/edge_list.hpp"
#include "producer/matrix/matrix_checks.hpp"
#include "producer/matrix/matrix_market.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside {
namespace {

std::uint64_t status_bytes(const std::string& wanted) {
  std::ifstream status("/proc/self/status");
  std::string key;
  for (std::uint64_t kib = 0; status >> key; status.ignore(200, '\n')) {
    if (key == wanted && status >> kib) return kib * 1024;
  }
  return 0;
}

std::uint64_t bytes_of(const CsrMatrix& matrix) {
  return matrix.row_begin.bytes() + matrix.column.bytes() + matrix.value.bytes() + matrix.id.bytes();
}

// Runs in a separate process, because this process may have had a higher peak before. Exits with 0 if reading took at
// most twice the size of the matrix, otherwise with 1 and a line on stderr.
template <class Read>
[[noreturn]] void check_peak(const std::string& text, Read&& read) {
  omp_set_num_threads(2);
#pragma omp parallel
  { omp_get_thread_num(); }
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak is reset to the current resident memory
  const std::uint64_t before = status_bytes("VmHWM:");
  const CsrMatrix matrix = read(text);
  const std::uint64_t needed = status_bytes("VmHWM:") - before;
  const std::uint64_t allowed = 2 * bytes_of(matrix);
  fmt::print(stderr, "reading took {} KiB beside the text, the matrix has {} KiB\n", needed >> 10,
             bytes_of(matrix) >> 10);
  // A peak below the size of the matrix would mean that nothing was measured.
  std::exit(needed <= allowed && 10 * needed >= 9 * bytes_of(matrix) ? 0 : 1);
}

class PeakMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::kSanitized) GTEST_SKIP() << "sanitizers keep memory of their own";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(PeakMemory, OfAWeightedMatrixIsAtMostTwiceTheMatrix) {
  const auto check = [] {
    std::mt19937_64 random(7);
    std::string text = "%%MatrixMarket matrix coordinate real general\n500000 500000 3000000\n";
    for (int i = 0; i < 3'000'000; ++i)
      text += fmt::format("{} {} {}.5\n", 1 + random() % 500000, 1 + random() % 500000, i);
    check_peak(text, [](std::string_view t) { return read_matrix_market(t, "a", Orientation::kInLinks); });
  };
  EXPECT_EXIT(check(), ::testing::ExitedWithCode(0), "");
}

TEST_F(PeakMemory, OfACompactedPatternIsAtMostTwiceTheMatrix) {
  const auto check = [] {
    std::mt19937_64 random(8);
    std::string text;
    for (int i = 0; i < 5'000'000; ++i) text += fmt::format("{} {}\n", random() % 1000000 * 7, random() % 1000000 * 7);
    check_peak(text, [](std::string_view t) { return read_edge_list(t, "a", Orientation::kInLinks); });
  };
  EXPECT_EXIT(check(), ::testing::ExitedWithCode(0), "");
}

TEST_F(PeakMemory, OfASymmetricPatternIsAtMostTwiceTheMatrix) {
  const auto check = [] {
    std::mt19937_64 random(9);
    std::string text = "%%MatrixMarket matrix coordinate pattern symmetric\n500000 500000 3000000\n";
    for (int i = 0; i < 3'000'000; ++i) {
      const std::uint64_t row = 1 + random() % 500000;
      text += fmt::format("{} {}\n", row, 1 + random() % row);
    }
    check_peak(text, [](std::string_view t) { return read_matrix_market(t, "a", Orientation::kRows); });
  };
  EXPECT_EXIT(check(), ::testing::ExitedWithCode(0), "");
}

TEST_F(PeakMemory, OfATextWithOneVeryLongRowIsAtMostTwiceTheMatrix) {
  const auto check = [] {
    std::mt19937_64 random(10);
    std::string text = "%%MatrixMarket matrix coordinate real general\n3 8000000 3000000\n";
    for (int i = 0; i < 3'000'000; ++i) text += fmt::format("2 {} {}.5\n", 1 + random() % 8000000, i);
    check_peak(text, [](std::string_view t) { return read_matrix_market(t, "a", Orientation::kRows); });
  };
  EXPECT_EXIT(check(), ::testing::ExitedWithCode(0), "");
}

TEST(CsrBuilder, ALongRowIsSortedInPlaceToTheSameResult) {
  // The row is longer than the copy that a thread may take (2^20), so it is sorted in place. Columns 0 .. 2^19 - 1
  // occur three times each.
  constexpr std::uint64_t kColumns = std::uint64_t{1} << 19;
  CsrBuilder builder(1, kColumns, Orientation::kRows, true);
  const auto add_all = [&]<class Sink>() {
    Sink sink(builder);
    for (std::uint64_t k = 0; k < 3 * kColumns; ++k) {
      sink.add(0, static_cast<std::uint32_t>(k * 12347 % kColumns), k < kColumns ? 1e16 : 1.0);
    }
  };
  add_all.operator()<EntryCounter>();
  builder.allocate();
  add_all.operator()<EntryPlacer>();
  const CsrMatrix matrix = builder.finish();
  ASSERT_EQ(matrix.nonzeros(), kColumns);
  for (std::uint64_t k = 0; k < kColumns; ++k) {
    ASSERT_EQ(matrix.column[k], k);
    ASSERT_EQ(matrix.value[k], (1.0 + 1.0) + 1e16);
  }
}

TEST(CsrBuilder, EntriesThatDifferTheSecondTimeAreNoticedAndStayInBounds) {
  for (const std::uint32_t second_row : {0u, 1u, 2u}) {
    CsrBuilder builder(3, 3, Orientation::kRows, true);
    {
      EntryCounter counter(builder);
      counter.add(0, 1, 1.0);
      counter.add(2, 2, 1.0);
    }
    builder.allocate();
    {
      EntryPlacer placer(builder);
      for (int i = 0; i < 5; ++i) placer.add(second_row, 1, 1.0);
    }
    expect_has(failure_line([&] { builder.finish(); }), {"changed while it was read"});
  }
}

TEST(CsrBuilder, RowsAreBalancedByTheirWork) {
  const std::uint64_t row_begin[] = {0, 0, 100, 100, 100, 150, 200};
  const std::vector<std::uint64_t> bound = balanced_rows(row_begin, 6, 2);
  EXPECT_EQ(bound, (std::vector<std::uint64_t>{0, 3, 6}));
  EXPECT_EQ(balanced_rows(row_begin, 6, 50).back(), 6u);
}

TEST(CsrBuilder, RowsAreBalancedBeyondTwoToThe32Entries) {
  constexpr std::uint64_t kLong = 0xffff'ffff;  // the longest possible row
  const std::uint64_t row_begin[] = {0, kLong, 2 * kLong, 3 * kLong, 4 * kLong};
  EXPECT_EQ(balanced_rows(row_begin, 4, 2), (std::vector<std::uint64_t>{0, 2, 4}));
}

TEST(CsrBuilder, MoreThanTwoToThe32RowsAreNeverAnnounced) {
  EXPECT_EQ(most_announced_rows(std::uint64_t{1} << 40), 0xffff'ffffu);
  EXPECT_EQ(most_announced_rows(0), std::uint64_t{1} << 23);
}

TEST(CsrBuilder, HugeMemoryIsRefusedBeforeItIsTouched) {
  const auto ask = [] { require_memory(std::uint64_t{1} << 50); };
  expect_has(failure_line(ask, ExitCode::kSystem), {"1073741824 MiB"});
  require_memory(1000);
}

TEST(MatrixChecks, ContentIdCoversShapeOrientationAndEveryArray) {
  const auto id_of = [](const char* text, Orientation orientation = Orientation::kRows) {
    return read_edge_list(text, "a", orientation).content_id;
  };
  const Id128 id = id_of("0 1\n1 0\n");
  EXPECT_EQ(id_of("1 0\n0 1\n"), id);
  EXPECT_NE(id_of("0 1\n1 0\n", Orientation::kInLinks), id);
  EXPECT_NE(id_of("3 2\n0 1\n1 0\n"), id);
  EXPECT_NE(id_of("0 1 1\n1 0 1\n"), id);
  EXPECT_NE(id_of("5 6\n6 5\n"), id);
  EXPECT_NE(id_of("0 0\n1 1\n"), id);
}

TEST(MatrixChecks, NonSquareMatricesAreRefusedAsTheInputWritesThem) {
  for (const Orientation orientation : {Orientation::kRows, Orientation::kInLinks}) {
    const CsrMatrix matrix =
        read_matrix_market("%%MatrixMarket matrix coordinate real general\n3 4 0\n", "a", orientation);
    expect_has(failure_line([&] { check_square(matrix, "a.mtx"); }), {"a.mtx: found a matrix of 3 rows and 4 columns"});
  }
  check_square(read_edge_list("0 1\n", "a", Orientation::kRows), "a");
}

TEST(MatrixChecks, WeightsThatPageRankCannotUseAreNamed) {
  for (const char* weight : {"nan", "inf", "-inf", "-0.5"}) {
    for (const Orientation orientation : {Orientation::kRows, Orientation::kInLinks}) {
      const CsrMatrix matrix = read_matrix_market(
          fmt::format("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n3 2 {}\n3 3 1\n", weight), "a",
          orientation);
      const std::string error = failure_line([&] { check_weights_for_pagerank(matrix); });
      expect_has(error, {fmt::format("found the weight {} in row 3, column 2", weight)});
      const CsrMatrix edges = read_edge_list(fmt::format("10 20 1\n30 20 {}\n", weight), "a", orientation);
      const std::string edge_error = failure_line([&] { check_weights_for_pagerank(edges); });
      expect_has(edge_error, {fmt::format("found the weight {} on the edge 30 20", weight)});
    }
  }
  check_weights_for_pagerank(read_edge_list("0 1\n", "a", Orientation::kRows));
  check_weights_for_pagerank(read_edge_list("0 1 0.5\n", "a", Orientation::kRows));
}

}  // namespace
}  // namespace ringside
