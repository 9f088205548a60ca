// SPDX-License-Identifier: BSD-3-Clause
// Reads files that gzip, xz, bzip2, zstd and tar themselves write. A test whose program is not installed is skipped.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "producer/text/matrix_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"

namespace ringside {
namespace {

class Programs : public ::testing::Test {
 protected:
  Programs() {
    std::string text;
    for (int i = 0; i < 5'000; ++i) text += std::to_string(i) + ' ' + std::to_string(i * 7919 % 5'000) + '\n';
    text_ = std::move(text);
    folder_.write("edges", text_);
  }

  /// Runs a shell command in the folder. Returns false if the command failed.
  bool shell(const std::string& command) const {
    return std::system(("cd '" + folder_.path() + "' && { " + command + "; } 2>/dev/null").c_str()) == 0;
  }
  bool is_installed(const std::string& program) const { return shell("command -v " + program + " >/dev/null"); }
  std::string text_of(const std::string& name) const {
    return std::string(matrix_text(map_file(folder_.file(name)), {folder_.file(name)}).text.text);
  }

  testing::TemporaryFolder folder_;
  std::string text_;
};

class PackingProgram : public Programs, public ::testing::WithParamInterface<const char*> {};

TEST_P(PackingProgram, WritesWhatIsRead) {
  const std::string program = GetParam();
  if (!is_installed(program)) GTEST_SKIP() << program << " is not installed";
  ASSERT_TRUE(shell(program + " -c <edges >packed"));
  EXPECT_EQ(text_of("packed"), text_);
  ASSERT_TRUE(shell(program + " -c </dev/null >>packed && " + program + " -c <edges >>packed"));
  EXPECT_EQ(text_of("packed"), text_ + text_) << "three members in a row";
}

TEST_P(PackingProgram, WritesTarArchivesThatAreRead) {
  const std::string program = GetParam();
  for (const std::string& needed : {program, std::string("tar")}) {
    if (!is_installed(needed)) GTEST_SKIP() << needed << " is not installed";
  }
  for (const char* format : {"gnu", "pax", "ustar", "v7"}) {
    ASSERT_TRUE(shell("mkdir -p edges.d && cp edges edges.d/e.txt && tar --format=" + std::string(format) +
                      " -cf - edges.d | " + program + " -c >archive"));
    EXPECT_EQ(text_of("archive"), text_) << format;
  }
}

// The member has a name that the C locale cannot represent, and the archive has an entry for the folder before it.
TEST_F(Programs, TarWritesNamesInUtf8ThatAreRead) {
  if (!is_installed("tar")) GTEST_SKIP() << "tar is not installed";
  ASSERT_TRUE(shell("mkdir gr\xc3\xbcn && cp edges gr\xc3\xbcn/gr\xc3\xbcn.mtx && cp edges gr\xc3\xbcn/b.mtx"));
  for (const char* format : {"gnu", "pax", "ustar"}) {
    ASSERT_TRUE(shell("tar --format=" + std::string(format) + " -cf archive gr\xc3\xbcn"));
    EXPECT_EQ(text_of("archive"), text_) << format;
  }
}

INSTANTIATE_TEST_SUITE_P(All, PackingProgram, ::testing::Values("gzip", "xz", "bzip2", "zstd"),
                         [](const auto& program) { return std::string(program.param); });

}  // namespace
}  // namespace ringside
