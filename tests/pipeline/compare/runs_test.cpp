// SPDX-License-Identifier: BSD-3-Clause
// tail --runs: lists the runs below a folder, names damaged journals, and leaves out runs outside the folder.
#include <gtest/gtest.h>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class RunsTest : public PipelineTest {
 protected:
  void solve(const std::string& name, const std::string& matrix) {
    std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
    expect_done({"run", "--matrix=" + matrix, "--pool=" + folder_.file(name), "--iterations=20", "--quiet",
                 "--journal=file", "--durability=process"});
  }
};

TEST_F(RunsTest, ListsEachRunBelowTheFolderAndNamesDamagedJournals) {
  solve("d/a.pool", "grid:10");
  solve("d/sub/b.pool", "grid:11");
  solve("outside.pool", "grid:12");
  std::filesystem::create_symlink(folder_.file("outside.pool"), folder_.file("d/link.pool"));
  std::filesystem::create_symlink(folder_.file("outside.pool.journal-0"), folder_.file("d/other.pool.journal-0"));
  write_file("d/c.pool.journal-0", "not a journal, though it has the name of one");
  const Finished found = run("ringside", {"tail", "--runs", folder_.file("d"), "--json"});
  EXPECT_NE(found.exit_code, 0);
  expect_has(found.err, {"c.pool"});
  const std::vector<Json> runs = json_lines(found.out);
  ASSERT_EQ(runs.size(), 2u) << found.out;
  EXPECT_EQ(runs[0]["name"], "sub/b.pool");  // the newest run is first
  EXPECT_EQ(runs[1]["name"], "a.pool");
  EXPECT_EQ(runs[1]["state"], "done");
  EXPECT_EQ(runs[1]["iteration"], 20);
  EXPECT_EQ(runs[1]["matrix"], "grid:10");
}

TEST_F(RunsTest, AFolderWithoutRunsIsNoError) {
  expect_has(expect_done({"tail", "--runs", folder_.file(".")}).err, {"found no run"});
  expect_refusal(2, run("ringside", {"tail", "--runs", folder_.file("none")}), {"--runs"});
}

}  // namespace
}  // namespace ringside
