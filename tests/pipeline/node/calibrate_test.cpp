// SPDX-License-Identifier: BSD-3-Clause
// `ringside calibrate`, run as a user runs it, with a tiny problem and a short measurement: the file that it writes,
// the file's default place, and what the command refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "node/file/matrix_file.hpp"
#include "node/file/node_file.hpp"
#include "producer/solver/solver_table.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class CalibrateTest : public PipelineTest {
 protected:
  CalibrateTest() { std::filesystem::create_directory(memory_); }

  Words arguments(const Words& more) const { return joined({"calibrate", "--matrix=grid:20", "--budget=1"}, more); }

  void expect_refused(const Words& more, int code, const Words& fragments,
                      const std::function<void()>& in_child = {}) const {
    std::string err = expect_exit(code, run("ringside", arguments(more), in_child)).err;
    if (const auto progress = err.rfind("calibrating "); progress != std::string::npos) {
      err.erase(0, err.find('\n', progress) + 1);
    }
    expect_one_line(err, fragments);
    EXPECT_FALSE(std::filesystem::exists(output_));
    EXPECT_TRUE(std::filesystem::is_empty(memory_));
  }

  std::string memory_ = folder_.file("memory");
  std::string output_ = folder_.file("node.json");
};

TEST_F(CalibrateTest, TheFileReadsBackAndTheTableNamesTheNextCommand) {
  const Finished ran = expect_done(arguments({"--memory=" + memory_, "--output=" + output_}));
  const Node node = read_node(output_);
  EXPECT_EQ(node.origin, "ringside calibrate");
  EXPECT_TRUE(node.fingerprint.has_value());
  EXPECT_FALSE(node.kernels.empty());
  expect_has(ran.out, {"grid:20: 400 rows", "ringside plan --matrix grid:20 --node " + output_});
  EXPECT_TRUE(std::filesystem::is_empty(memory_));
}

TEST_F(CalibrateTest, TheDefaultPlaceIsTheUsersCacheFolderWhichOthersCannotEnter) {
  const std::string cache = folder_.file("cache");
  const Finished ran = run("ringside", arguments({"--memory=" + memory_, "--quiet"}),
                           [&] { setenv("XDG_CACHE_HOME", cache.c_str(), 1); });
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out + ran.err, "");
  EXPECT_NO_THROW((void)read_node(cache + "/ringside/node.json"));
  struct stat status {};
  ASSERT_EQ(stat((cache + "/ringside").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0700u);
}

TEST_F(CalibrateTest, WithoutTheVariableTheDefaultPlaceIsBelowTheHomeFolder) {
  const Finished ran = run("ringside", arguments({"--memory=" + memory_, "--quiet"}), [&] {
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", folder_.path().c_str(), 1);
  });
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(std::filesystem::exists(folder_.file(".cache/ringside/node.json")));
}

TEST_F(CalibrateTest, SeveralMatricesAreMeasuredAndStandardOutputHoldsTheFileAlone) {
  const Finished ran = expect_done(arguments({"--matrix=grid:30", "--memory=" + memory_, "--threads=1", "--output=-"}));
  const Node node = parse_node(ran.out, "standard output");
  EXPECT_TRUE(std::any_of(node.kernels.begin(), node.kernels.end(),
                          [](const KernelFigures& kernel) { return kernel.problem.rows == 900; }));
}

TEST_F(CalibrateTest, EverySolverIsCalibratedPlannedAndRun) {
  std::string text;
  for (int row = 0; row < 400; ++row) {
    text += fmt::format("{0} {0} 4\n", row);
    if (row > 0) text += fmt::format("{0} {1} 1\n{1} {0} 1\n", row, row - 1);
  }
  const std::string matrix = write_file("a.txt", text);
  pool_ = memory_ + "/a.pool";
  for (const SolverEntry* entry : solvers()) {
    const std::string solver = fmt::format("--solver={}", entry->choice.name);
    SCOPED_TRACE(solver);
    const Finished measured = expect_done(
        {"calibrate", "--matrix=" + matrix, solver, "--budget=1", "--memory=" + memory_, "--output=" + output_});
    const bool is_default = entry->choice.name == SolveOptions().solver;
    expect_has(measured.out,
               {matrix + (is_default ? "" : fmt::format(" --solver {}", entry->choice.name)) + " --node"});
    const Finished planned =
        expect_done({"plan", "--matrix=" + matrix, solver, "--node=" + output_, "--pool=" + pool_});
    expect_has(planned.out, {fmt::format("ringside plan: {} of ", entry->choice.name)});
    expect_lacks(planned.out, {"no figures for"});
    expect_exit(0, run_it(matrix, {solver, "--cores=auto", "--node=" + output_, "--iterations=5",
                                   "--durability=process", "--overwrite"}));
    EXPECT_GT(summary()["planned_total_s"], 0);
  }
}

TEST_F(CalibrateTest, AFolderWithoutRoomIsRefused) {
  const std::string small = folder_.file("small");
  std::filesystem::create_directory(small);
  if (mount("none", small.c_str(), "tmpfs", 0, "size=1m") != 0) GTEST_SKIP() << "mounting needs root";
  expect_refused({"--memory=" + small, "--output=" + output_}, 3, {small});
  EXPECT_TRUE(std::filesystem::is_empty(small));
  umount(small.c_str());
}

TEST_F(CalibrateTest, AFolderWithoutPermissionIsRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  ASSERT_EQ(chmod(memory_.c_str(), 0500), 0);
  expect_refused({"--memory=" + memory_, "--output=" + output_}, 3, {"--memory", memory_});
}

TEST_F(CalibrateTest, AnOutputThatCannotBeWrittenIsRefusedBeforeAnythingIsMeasured) {
  expect_refused({"--memory=" + memory_, "--output=" + folder_.file("no/such/folder.json")}, 3,
                 {"--output", "no/such"});
  const std::string kept = write_file("a.txt", "0 1\n1 0\n");
  expect_refusal(2, run("ringside", {"calibrate", "--matrix=" + kept, "--memory=" + memory_, "--output=" + kept}),
                 {"--output", "--matrix"});
}

TEST_F(CalibrateTest, WrongMemoriesMatricesAndThreadCountsAreRefused) {
  const auto refused = [&](int code, const std::string& option, const Words& fragments) {
    expect_refused({"--memory=" + memory_, "--output=" + output_, option}, code, fragments);
  };
  refused(2, "--memory=" + folder_.file("missing"), {"--memory", "missing"});
  refused(2, "--memory=" + write_file("plain", "x"), {"--memory", "plain"});
  for (const std::string matrix : {"grid:0", "rmat:x", "missing.mtx"}) refused(2, "--matrix=" + matrix, {matrix});
  refused(2, "--matrix=grid:20", {"--matrix", "grid:20", "twice"});
  refused(2, "--threads=100000", {"--threads"});
  refused(3, "--threads=1000", {"--threads", "1000"});
  refused(2, "--threads=0", {"--threads", "found 0"});
}

TEST_F(CalibrateTest, TheFiguresOfAMatrixFileNameTheFileAsItWas) {
  const std::string matrix = write_file("a.txt", "0 1\n1 2\n2 0\n");
  const Finished ran =
      expect_done({"calibrate", "--matrix=" + matrix, "--budget=1", "--memory=" + memory_, "--output=-"});
  const Node node = parse_node(ran.out, "standard output");
  EXPECT_TRUE(node.kernels.front().problem.file.has_value());
  EXPECT_EQ(node.kernels.front().problem.file, matrix_file(matrix));
  expect_refused({"--matrix=" + matrix, "--matrix=" + folder_.file("memory/../a.txt"), "--output=" + output_}, 2,
                 {"--matrix", "twice"});
}

TEST_F(CalibrateTest, AnInterruptLeavesNothingBehind) {
  Process process("ringside", {"calibrate", "--matrix=grid:20", "--memory=" + memory_, "--output=" + output_});
  ASSERT_TRUE(process.wait_for_err("calibrating"));
  expect_has(expect_exit(130, process.stop(SIGINT)).err, {"interrupted"});
  EXPECT_FALSE(std::filesystem::exists(output_));
  EXPECT_TRUE(std::filesystem::is_empty(memory_));
}

}  // namespace
}  // namespace ringside
