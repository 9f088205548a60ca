// SPDX-License-Identifier: BSD-3-Clause
// In which memory arrays are placed, and the options that are refused. A process has one arena: the tests that need the
// arena start it once. If it is not permitted, they are skipped, with the line that the library prints.
#include "producer/memory/matrix_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "producer/kernels/row_layout.hpp"
#include "producer/matrix/array.hpp"
#include "producer/matrix/csr_builder.hpp"
#include "producer/matrix/grid.hpp"
#include "producer/text/text_source.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

SolveOptions options_of(const std::string& place, std::uint64_t limit) {
  SolveOptions options;
  options.matrix_memory = place;
  options.dram_limit_bytes = limit;
  return options;
}

std::string refusal(const std::string& place, std::uint64_t limit) {
  return failure_line([&] { check_matrix_memory(options_of(place, limit)); });
}

TEST(MatrixMemoryOptions, OneOfThemWithoutTheOtherIsRefused) {
  EXPECT_EQ(refusal("dram", 0), "");
  EXPECT_EQ(refusal("far:.", kMiB), "");
  EXPECT_EQ(refusal("far:.", 0), "--matrix-memory far:.: found without --dram-limit, expected --dram-limit SIZE, too");
  EXPECT_EQ(refusal("dram", kMiB),
            "--dram-limit: found 1048576 with the matrix in DRAM, expected it with --matrix-memory far:DIR only");
}

TEST(MatrixMemoryOptions, AFolderThatDoesNotExistIsRefusedBeforeAnythingStarts) {
  EXPECT_EQ(refusal("far:/no/such/folder", kMiB),
            "--matrix-memory far:/no/such/folder: cannot be used (No such file or directory), expected an existing "
            "folder on NVDIMM, tmpfs or a disk");
}

TEST(MatrixMemoryOptions, WithTheMatrixInDramNothingStarts) {
  if (matrix_is_far()) GTEST_SKIP() << "a test before this one started the arena";
  start_matrix_memory(options_of("dram", 0));
  EXPECT_FALSE(matrix_is_far());
  EXPECT_FALSE(far_use());
  const Array<int> array(1 << 20, Holds::kMatrix);
  EXPECT_FALSE(in_far_memory(array.data()));
}

class FarMatrix : public ::testing::Test {
 protected:
  void SetUp() override {
    static const testing::TemporaryFolder folder;
    if (!matrix_is_far()) {
      const std::string refused =
          failure_line([] { start_matrix_memory(options_of("far:" + folder.path(), kMiB)); }, ExitCode::kSystem);
      if (refused.find("userfaultfd") != std::string::npos) GTEST_SKIP() << refused;
      ASSERT_EQ(refused, "");
    }
  }
};

TEST_F(FarMatrix, OnlyWhatHoldsTheMatrixIsFar) {
  const Array<std::uint32_t> matrix(1000, Holds::kMatrix);
  const Array<std::uint32_t> vector(1000);
  EXPECT_TRUE(in_far_memory(matrix.data()));
  EXPECT_FALSE(in_far_memory(vector.data()));
  EXPECT_EQ(matrix[999], 0u);
}

TEST_F(FarMatrix, AnArrayLargerThanTheLimitKeepsItsContentAndItsMemoryIsGivenBack) {
  constexpr std::size_t kCount = 1 << 20;  // 8 MiB
  const std::uint64_t before = far_use()->far_bytes;
  {
    Array<std::uint64_t> array(kCount, Holds::kMatrix);
    will_be_streamed(array.data(), array.bytes());
    for (std::size_t i = 0; i < kCount; ++i) array[i] = i * i;
    bool same = true;
    for (std::size_t i = 0; i < kCount; ++i) same = same && array[i] == i * i;
    EXPECT_TRUE(same);
    EXPECT_EQ(far_use()->far_bytes, before + 8 * kMiB);
    EXPECT_LE(far_use()->dram_peak_bytes, kMiB);
  }
  EXPECT_EQ(far_use()->far_bytes, before);
}

TEST_F(FarMatrix, ABuilderGivesBackWhatMergedDuplicatesLeave) {
  const std::uint64_t before = far_use()->far_bytes;
  constexpr std::uint32_t kRows = 1000;
  constexpr int kTimes = 100;
  CsrBuilder builder(kRows, kRows, Orientation::kRows, false);
  {
    EntryCounter counter(builder);
    for (int i = 0; i < kTimes; ++i) {
      for (std::uint32_t row = 0; row < kRows; ++row) counter.add(row, row / 2, 1);
    }
  }
  builder.allocate();
  {
    EntryPlacer placer(builder);
    for (int i = 0; i < kTimes; ++i) {
      for (std::uint32_t row = 0; row < kRows; ++row) placer.add(row, row / 2, 1);
    }
  }
  const CsrMatrix matrix = builder.finish();
  ASSERT_EQ(matrix.nonzeros(), kRows);
  for (std::uint32_t row = 0; row < kRows; ++row) ASSERT_EQ(matrix.column[row], row / 2);
  EXPECT_LE(far_use()->far_bytes, before + 16384);
}

TEST_F(FarMatrix, PackedRowsAreFarAndTheMatrixIsReleased) {
  const std::uint64_t before = far_use()->far_bytes;
  CsrMatrix matrix = make_grid(300, Orientation::kRows);
  const RowLayout layout = make_row_layout(matrix, MatrixFormat::kRanked, std::vector<double>(90'000, 8.0));
  EXPECT_TRUE(in_far_memory(layout.packed.word.data()));
  EXPECT_FALSE(in_far_memory(layout.place.data())) << "read at random places, one a row";
  EXPECT_TRUE(in_far_memory(matrix.column.data()));
  release_entries(matrix);
  EXPECT_LE(far_use()->far_bytes, before + layout.packed.word.bytes() + 4096);
}

TEST_F(FarMatrix, AnUnpackedTextLiesWhereTheMatrixDoes) {
  GrowingBytes bytes;
  std::string expected;
  for (int part = 0; part < 40; ++part) {  // 4 MB: the text's memory grows three times
    const std::string text(100'000, static_cast<char>('a' + part % 26));
    expected += text;
    for (std::string_view rest = text; !rest.empty();) {
      if (bytes.free_bytes() == 0) bytes.grow();
      const std::size_t now = std::min(rest.size(), bytes.free_bytes());
      std::memcpy(bytes.free_space(), rest.data(), now);
      bytes.add(now);
      rest.remove_prefix(now);
    }
  }
  const Text text = bytes.take();
  EXPECT_TRUE(in_far_memory(text.text.data()));
  EXPECT_TRUE(text.text == expected);
}

TEST_F(FarMatrix, MoreThanTheFolderHoldsIsRefusedAndWhatThereIsStays) {
  Array<std::uint64_t> kept(1000, Holds::kMatrix);
  kept[999] = 7;
  expect_has(failure_line([] { const Array<char> array(std::size_t{1} << 50, Holds::kMatrix); }, ExitCode::kSystem),
             {"--matrix-memory: 1125899906842624 bytes do not fit (far memory is full"});
  EXPECT_EQ(kept[999], 7u);
}

}  // namespace
}  // namespace ringside
