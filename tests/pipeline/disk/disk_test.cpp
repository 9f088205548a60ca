// SPDX-License-Identifier: BSD-3-Clause
// When the disk fails during a run, the failure is reported once and never ignored, and the iterates that were kept
// before are still in the pool.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "tests/pipeline/disk/with_failing_disk.hpp"

namespace ringside {
namespace {

using namespace testing::names;

using DiskTest = PipelineTest;

TEST_F(DiskTest, ASyncThatFailsStopsTheRunAndIsNotForgotten) {
  // The first syncs are left out: they belong to the creation of the pool and the beginning of the run.
  for (const char* at : {"4", "6", "9"}) {
    SCOPED_TRACE(at);
    const Finished failed = expect_exit(3, run_it("grid:60", {"--iterations=100000", "--overwrite"},
                                               testing::with_failing_disk("RINGSIDE_TEST_FDATASYNC_FAILS_AT", at)));
    expect_has(failed.err, {"Input/output error"});
    expect_intact();
  }
  // The disk works again: the run resumes from the iterates that it kept.
  const Json info = pool_info();
  const std::uint64_t newest = info["iterates"].empty() ? 0 : info["iterates"].back()["iteration"].get<std::uint64_t>();
  const std::string end = "--iterations=" + std::to_string(newest + 20);
  expect_exit(0, run_it("grid:60", {"--resume", end}));
  const std::string last = export_last(pool_);
  ASSERT_EQ(run_it("grid:60", {"--overwrite", end}).exit_code, 0);
  EXPECT_EQ(last, export_last(pool_)) << "bit-equal to a run on a good disk";
}

TEST_F(DiskTest, AWriteThatFailsIsStoredThroughTheMapping) {
  expect_exit(0, run_it("grid:60", {"--iterations=50"},
                        testing::with_failing_disk("RINGSIDE_TEST_PWRITE_FAILS_EACH", "3")));
  EXPECT_EQ(summary()["steps_persisted"], 50);
  expect_intact();
}

TEST_F(DiskTest, AnExportOntoAFullDiskLeavesNothing) {
  ASSERT_EQ(run_it("grid:300", {"--iterations=3"}).exit_code, 0);
  const TemporaryFolder small;
  if (mount("none", small.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "cannot mount a small tmpfs here: " << errno_text(errno);
  }
  expect_refusal(3, run("ringside", {"export", pool_, "--output", small.file("x.npy")}), {"x.npy", "No space"});
  EXPECT_TRUE(std::filesystem::is_empty(small.path()));
  umount(small.path().c_str());
}

TEST_F(DiskTest, AnExperimentOnAFullDiskIsRefusedWithTheNeededAndTheAvailableBytes) {
  const TemporaryFolder small;
  if (mount("none", small.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "cannot mount a small tmpfs here: " << errno_text(errno);
  }
  for (const char* name : {"stream", "compete", "placement", "streams", "pipeline"}) {
    const Finished refused =
        expect_exit(3, run("ringside", {"experiment", name, "--bytes=1M", "--repeats=2", "--memory=" + small.path()}));
    expect_one_line(refused.err, {small.path(), "bytes are needed, but 65536 are available"});
    EXPECT_EQ(refused.out, "");
    EXPECT_TRUE(std::filesystem::is_empty(small.path()));
  }
  umount(small.path().c_str());
}

TEST_F(DiskTest, AFileThatMayNotGrowIsOneLineAndLeavesNothing) {
  ASSERT_EQ(run_it("grid:20", {"--iterations=3", "--quiet"}).exit_code, 0);
  const std::string outputs = folder_.file("outputs");
  std::filesystem::create_directory(outputs);
  const std::string matrix = folder_.write("m.el", "0 1\n1 2\n2 0\n");
  const std::vector<Words> writers = {
      {"run", "--mode=dram", "--matrix=grid:20", "--iterations=3", "--quiet", "--summary=" + outputs + "/s.json"},
      {"cache", matrix, "--cache-dir=" + outputs},
      {"export", pool_, "--output=" + outputs + "/x.npy"},
      {"report", pool_, "--output=" + outputs + "/x.html"},
      {"experiment", "stream", "--bytes=64K", "--repeats=2", "--threads=1", "--output=" + outputs + "/x.html"},
      {"experiment", "stream", "--bytes=64K", "--repeats=2", "--threads=1", "--memory=" + outputs},
      {"keygen", outputs}};
  for (const Words& arguments : writers) {
    SCOPED_TRACE(arguments.front());
    expect_refusal(3, run("ringside", arguments, limiting(RLIMIT_FSIZE, 0)), {outputs, "File too large"});
    EXPECT_TRUE(std::filesystem::is_empty(outputs));
  }
}

}  // namespace
}  // namespace ringside
