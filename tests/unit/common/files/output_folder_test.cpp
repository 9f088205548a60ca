// SPDX-License-Identifier: BSD-3-Clause
// An output folder gets its name only when it is complete.
#include "common/files/output_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::content_of;
using testing::TemporaryFolder;

std::size_t entries_of(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(OutputFolderTest, ItHasItsNameWhenItIsPublishedAndNotBefore) {
  const TemporaryFolder folder;
  OutputFolder output(folder.file("store/"), "--output", "a store");
  output.write("a/b/c", "deep");
  output.write("a/b/c", "again");
  output.write("top", "text");
  output.remove("top");
  output.remove("none/at/all");
  EXPECT_FALSE(fs::exists(folder.file("store")));
  output.publish();
  EXPECT_EQ(content_of(folder.file("store/a/b/c")), "again");
  EXPECT_FALSE(fs::exists(folder.file("store/top")));
  EXPECT_EQ(entries_of(folder.path()), 1u);
  EXPECT_EQ(testing::mode_of(folder.file("store")) & S_IRWXO, 0u) << "others may read nothing";
}

TEST(OutputFolderTest, OneThatIsNotPublishedLeavesNothing) {
  const TemporaryFolder folder;
  std::optional<OutputFolder> output(std::in_place, folder.file("store"), "--output", "a store");
  output->write("x/0", "chunk");
  EXPECT_EQ(entries_of(folder.path()), 1u);
  output.reset();
  EXPECT_EQ(entries_of(folder.path()), 0u);
}

TEST(OutputFolderTest, WhatAKilledProcessLeftIsRemovedAndWhatALivingOneMakesIsNot) {
  const TemporaryFolder folder;
  fs::create_directories(folder.file(".store.ringside-abc123/x"));
  fs::create_directories(folder.file(".other.ringside-abc123"));
  OutputFolder living(folder.file("store"), "--output", "a store");
  EXPECT_FALSE(fs::exists(folder.file(".store.ringside-abc123")));
  OutputFolder second(folder.file("store"), "--output", "a store");
  EXPECT_TRUE(fs::exists(living.beside()));
  EXPECT_TRUE(fs::exists(folder.file(".other.ringside-abc123")));
  living.write("a", "living");
  living.publish();
  EXPECT_NE(failure_line([&] { second.publish(); }, ExitCode::kSystem), "") << "the name is taken";
  EXPECT_EQ(content_of(folder.file("store/a")), "living");
}

TEST(OutputFolderTest, ANameThatIsTakenIsRefusedUnlessItIsAnEmptyFolder) {
  const TemporaryFolder folder;
  folder.write("file", "mine");
  fs::create_directories(folder.file("full/inside"));
  fs::create_directory(folder.file("empty"));
  fs::create_symlink("empty", folder.file("link"));
  for (const char* name : {"file", "full", "link"}) {
    const auto make = [&] { OutputFolder(folder.file(name), "--output", "a store"); };
    EXPECT_NE(failure_line(make).find("exists already, and a store does not replace it"), std::string::npos) << name;
  }
  OutputFolder output(folder.file("empty"), "--output", "a store");
  output.write("a", "new");
  output.publish();
  EXPECT_EQ(content_of(folder.file("empty/a")), "new");
  output.withdraw();
  EXPECT_FALSE(fs::exists(folder.file("empty")));
}

}  // namespace
}  // namespace ringside
