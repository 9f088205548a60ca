// SPDX-License-Identifier: BSD-3-Clause
#include "node/file/matrix_file.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

TEST(MatrixFileTest, EverySpellingOfAFileGivesTheSame) {
  const testing::TemporaryFolder folder;
  const std::string matrix = folder.write("a.mtx", "text");
  std::filesystem::create_directory(folder.file("below"));
  std::filesystem::create_symlink(matrix, folder.file("link.mtx"));
  const std::optional<MatrixFile> file = matrix_file(matrix);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->path, std::filesystem::canonical(matrix));
  EXPECT_EQ(file->size_bytes, 4u);
  EXPECT_EQ(matrix_file(folder.file("below/../a.mtx")), file);
  EXPECT_EQ(matrix_file(folder.file("link.mtx")), file);
  EXPECT_EQ(matrix_file(folder.file("link.mtx:a/b"))->path, file->path + ":a/b");  // a member, if it is an archive
  const std::optional<MatrixFile> edges = matrix_file(matrix, "from,to,skip");  // the same text is another matrix
  EXPECT_EQ(edges->path, file->path + " --columns from,to,skip");
  EXPECT_NE(edges, file);
}

TEST(MatrixFileTest, AChangeOfSizeTimeOrInodeGivesAnother) {
  const testing::TemporaryFolder folder;
  const std::string matrix = folder.write("a.mtx", "text");
  const std::optional<MatrixFile> before = matrix_file(matrix);
  const auto written = std::filesystem::last_write_time(matrix);
  folder.write("a.mtx", "texts");
  std::filesystem::last_write_time(matrix, written);
  EXPECT_NE(matrix_file(matrix), before);
  // Another file with the same size and time, as unpacking an archive or an image without times may make it.
  std::filesystem::last_write_time(folder.write("b.mtx", "tuxt"), written);
  std::filesystem::rename(folder.file("b.mtx"), matrix);
  const std::optional<MatrixFile> after = matrix_file(matrix);
  EXPECT_NE(after, before);
  EXPECT_EQ(matrix_file(matrix), after);
  EXPECT_EQ(after->size_bytes, before->size_bytes);
  EXPECT_EQ(after->mtime_ns, before->mtime_ns);
  std::filesystem::last_write_time(matrix, written + std::chrono::nanoseconds(1));
  EXPECT_NE(matrix_file(matrix), after);
}

TEST(MatrixFileTest, GeneratedAndMissingMatricesHaveNone) {
  const testing::TemporaryFolder folder;
  for (const std::string& matrix :
       {std::string("grid:10"), std::string("rmat:4"), folder.file("none"), folder.path()}) {
    EXPECT_FALSE(matrix_file(matrix).has_value()) << matrix;
  }
}

}  // namespace
}  // namespace ringside
