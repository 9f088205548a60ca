// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <iterator>

#include "tests/unit/as_nobody.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

class OutputFileTest : public ::testing::Test {
 protected:
  std::string content() const { return testing::content_of(path_); }
  auto files() const {
    const auto entries = std::filesystem::directory_iterator(folder_.path());
    return std::distance(begin(entries), end(entries));
  }
  mode_t mode() const { return testing::mode_of(path_); }
  void write(const std::string& text) const {
    OutputFile file(path_, "--output");
    file.write(text);
    file.finish();
  }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("x");
};

TEST_F(OutputFileTest, AppearsWhenItIsComplete) {
  OutputFile file(path_, "--output");
  file.write("text");
  EXPECT_FALSE(std::filesystem::exists(path_));
  file.finish();
  EXPECT_EQ(content(), "text");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, FewAndManyBytesFollowEachOther) {
  OutputFile file(path_, "--output");
  std::string expected;
  for (const std::size_t bytes : {128u, 5'000'000u, 3u, 0u, 300'000u, 262'144u, 4096u, 9'000'001u, 1u}) {
    std::string piece(bytes, ' ');
    for (std::size_t i = 0; i < bytes; ++i) piece[i] = static_cast<char>(bytes + i / 7 + i % 251);
    file.write(piece);
    expected += piece;
  }
  file.finish();
  EXPECT_TRUE(content() == expected);
}

TEST_F(OutputFileTest, LeavesNothingWhenItsProcessIsKilled) {
  if (!make_nameless_file(path_, kOutputMode).valid()) GTEST_SKIP() << "this file system has no nameless files";
  OutputFile file(path_, "--output");
  file.write(std::string(1'000'000, 'x'));
  EXPECT_EQ(files(), 0) << "what a kill would leave";
}

TEST_F(OutputFileTest, LeavesNothingWhenItIsGivenUp) {
  folder_.write("x", "before");
  { OutputFile(path_, "--output").write("half"); }
  EXPECT_EQ(content(), "before");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, OthersMayNeverReadItWhateverTheUmask) {
  for (const auto& [mask, expected] : {std::pair<mode_t, mode_t>{0, 0640}, {022, 0640}, {027, 0640}, {077, 0600}}) {
    const mode_t before = umask(mask);
    write("text");
    umask(before);
    EXPECT_EQ(mode(), expected);
  }
}

TEST_F(OutputFileTest, ReplacesAFileThatOthersMayRead) {
  folder_.write("x", "before");
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  write("text");
  EXPECT_EQ(content(), "text");
  EXPECT_EQ(mode() & 0007, 0u);
}

TEST_F(OutputFileTest, ALinkIsWrittenThrough) {
  std::filesystem::create_symlink(folder_.write("target", "before, and longer"), path_);
  write("text");
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(content(), "text");
  EXPECT_EQ(files(), 2);
}

TEST_F(OutputFileTest, AFileInAFolderThatTakesNoOtherIsWrittenInPlace) {
  folder_.write("x", "before, and longer");
  chmod(folder_.path().c_str(), 0555);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path_.c_str(), testing::kNobody, testing::kNobody), 0);
  }
  {
    const testing::AsNobody nobody;
    write("text");
    EXPECT_EQ(content(), "text");
  }
  chmod(folder_.path().c_str(), 0700);
}

TEST_F(OutputFileTest, FailuresNameTheOptionAndTheFile) {
  for (const std::string& path : {folder_.path(), folder_.file("no/such/folder")}) {
    const std::string line = failure_line([&] { OutputFile(path, "--output").finish(); }, ExitCode::kSystem);
    EXPECT_TRUE(line.starts_with("--output: cannot write '" + path + "'")) << line;
  }
  EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace ringside
