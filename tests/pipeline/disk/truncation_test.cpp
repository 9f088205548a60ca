// SPDX-License-Identifier: BSD-3-Clause
// A file that is truncated while it is mapped: the program that uses the file ends with one line and exit code 5, and
// does not die of SIGBUS. Also tests a sparse copy of a pool on a disk that has no room for the holes of this copy.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "common/files/data_sync.hpp"
#include "common/platform/unique_fd.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class TruncationTest : public PipelineTest {
 protected:
  static std::function<void()> truncating(const std::string& file) {
    return [file] {
      setenv("LD_PRELOAD", RINGSIDE_FAILING_DISK, 1);
      setenv("RINGSIDE_TEST_TRUNCATES", file.c_str(), 1);
    };
  }

  /// Expects that there are neither outputs nor parts of outputs.
  void expect_no_outputs() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      EXPECT_FALSE(entry.path().filename().string().starts_with("x.")) << entry.path();
    }
  }

  void expect_truncated(const Finished& ended, const std::string& file, const std::string& bytes = "4096") const {
    EXPECT_EQ(ended.exit_code, 5) << ended.death_signal << ended.err;
    expect_one_line(ended.err, {file, "was truncated to " + bytes, "while it was in use"});
  }
};

TEST_F(TruncationTest, EveryReaderOfAPoolSaysThatItWasTruncated) {
  ASSERT_EQ(run_it("grid:60", {"--iterations=5", "--quiet"}).exit_code, 0);
  const std::string whole = folder_.file("whole");
  std::filesystem::copy_file(pool_, whole);
  const std::vector<Words> readers = {
      {"info", pool_},
      {"verify", pool_},
      {"verify", pool_, "--json"},
      {"replay", pool_},
      {"export", pool_, "--output", folder_.file("x.npy")},
      {"report", pool_, "-o", folder_.file("x.html")},
      {"run", "--matrix=grid:60", "--pool=" + pool_, "--resume", "--iterations=9", "--quiet"}};
  for (const Words& arguments : readers) {
    SCOPED_TRACE(arguments.front());
    std::filesystem::copy_file(whole, pool_, std::filesystem::copy_options::overwrite_existing);
    expect_truncated(run("ringside", arguments, truncating(pool_)), pool_);
    expect_no_outputs();
  }
}

TEST_F(TruncationTest, AnAnalyzerWhosePoolIsTruncatedSaysSoAndEndsTheRun) {
  Process running("ringside", run_arguments("grid:200", {"--iterations=1000000", "--quiet", "--journal=off"}));
  ASSERT_TRUE(wait_for_commits(12));
  ASSERT_EQ(truncate(pool_.c_str(), 4096), 0);
  expect_truncated(running.finish(), pool_, "");  // a write in progress may have extended the file again
}

// A write at the old offset makes a truncated file long again. In this case, no access causes a fault, but the old
// content is lost.
TEST_F(TruncationTest, ATruncationBetweenAnyTwoWritesOfAStepIsNoticed) {
  if (is_in_memory(UniqueFd(open(folder_.path().c_str(), O_RDONLY)).get())) {
    GTEST_SKIP() << "steps are stored through the mapping on tmpfs; set TMPDIR to a folder on a disk";
  }
  constexpr int kWrites = 12 * 20;  // iterates of 320,000 bytes, in chunks of 16 KiB
  for (const int at : {1, 20, 21, 59, 60, 61, 119, 120, kWrites - 1, kWrites}) {
    SCOPED_TRACE(at);
    std::filesystem::remove(pool_);
    const Finished ended =
        run("ringside", run_arguments("grid:200", {"--iterations=12", "--slots=3", "--quiet", "--journal=off"}), [at] {
          setenv("LD_PRELOAD", RINGSIDE_FAILING_DISK, 1);
          setenv("RINGSIDE_TEST_PWRITE_TRUNCATES_AT", std::to_string(at).c_str(), 1);
        });
    expect_truncated(ended, pool_, "");
  }
}

TEST_F(TruncationTest, AnAnalyzerThatSyncsNothingNoticesAsWell) {
  Process running("ringside", run_arguments("grid:200", {"--iterations=1000000", "--quiet", "--journal=off",
                                                         "--durability=process", "--coordination=messages"}));
  ASSERT_TRUE(wait_for_commits(12));
  ASSERT_EQ(truncate(pool_.c_str(), 4096), 0);
  expect_truncated(running.finish(), pool_);
}

TEST_F(TruncationTest, AProducerWhoseCacheIsTruncatedSaysSo) {
  const std::string caches = folder_.file("caches");
  std::filesystem::create_directory(caches);
  const std::string matrix = folder_.write("m.el", "0 1\n1 2\n2 0\n0 2\n");
  expect_done({"cache", matrix, "--cache-dir", caches});
  const std::string cache = std::filesystem::directory_iterator(caches)->path().string();
  expect_refusal(5,
                 run("ringside-producer", {"--matrix=" + matrix, "--cache", "--cache-dir=" + caches, "--mode=dram"},
                     truncating(cache)),
                 {cache, "was truncated to 4096 bytes while it was in use"});
}

TEST_F(TruncationTest, ASparseCopyThatFindsTheDiskFullIsRefusedBeforeAnythingIsWritten) {
  ASSERT_EQ(run_it("grid:60", {"--iterations=5", "--quiet"}).exit_code, 0);
  const TemporaryFolder small;
  if (mount("none", small.path().c_str(), "tmpfs", 0, "size=12m") != 0) {
    GTEST_SKIP() << "a small tmpfs cannot be mounted here: " << errno_text(errno);
  }
  const std::string copied = small.file("p");
  const bool made = std::system(("cp --sparse=always '" + pool_ + "' '" + copied + "'").c_str()) == 0;
  struct stat status {};
  EXPECT_EQ(stat(copied.c_str(), &status), 0);
  EXPECT_LT(status.st_blocks * 512, status.st_size);
  const std::string before = content_of(copied);
  const Finished ran =
      run("ringside", {"run", "--matrix=grid:60", "--pool=" + copied, "--resume", "--iterations=50", "--quiet"});
  EXPECT_TRUE(made);
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  expect_one_line(ran.err,
                  {copied, "a sparse copy, and the disk has no room for its ", " missing bytes: ", "No space left"});
  EXPECT_TRUE(before == content_of(copied));
  // If no block is free, even the holes cannot be read.
  const std::string fill = small.file("fill");
  [[maybe_unused]] const int full = std::system(("head -c 12m /dev/zero >'" + fill + "' 2>/dev/null").c_str());
  for (const char* how : {"--resume", "--overwrite"}) {
    const Finished refused = expect_exit(
        3, run("ringside", {"run", "--matrix=grid:60", "--pool=" + copied, how, "--iterations=50", "--quiet"}));
    expect_one_line(refused.err,
                    {copied, "a sparse copy, and the disk has no room for its ", " missing bytes: ", "No space left"});
  }
  EXPECT_EQ(unlink(fill.c_str()), 0);
  umount(small.path().c_str());
}

}  // namespace
}  // namespace ringside
