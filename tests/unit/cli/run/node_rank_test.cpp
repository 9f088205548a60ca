// SPDX-License-Identifier: BSD-3-Clause
// How `ringside run` handles --ranks, --hosts and --per-node. No process is started.
#include "cli/run/node_rank.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "common/platform/names.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

constexpr const char* kVariables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID",
                                      "MV2_COMM_WORLD_LOCAL_RANK"};

constexpr const char* kJobVariables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};

class NodeRankTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kVariables) unsetenv(name);
    for (const char* name : kJobVariables) unsetenv(name);
  }
  void TearDown() override { SetUp(); }

  RunOptions options_;
};

TEST_F(NodeRankTest, OptionsWithoutAMeaningAreRefused) {
  options_.hosts = "hosts";
  EXPECT_EQ(failure_line([&] { check_rank_options(options_); }),
            "--hosts: found without --ranks, expected --ranks with the number of ranks");
  options_.ranks = 2;
  EXPECT_NO_THROW(check_rank_options(options_)) << "a built-in solver";
  options_.program = {"./solver"};
  EXPECT_NO_THROW(check_rank_options(options_));
  options_.summary = "a.json";
  EXPECT_EQ(failure_line([&] { check_rank_options(options_); }).rfind("--summary: found with --hosts", 0), 0u);
  options_.summary.clear();
  options_.per_node = true;
  EXPECT_EQ(failure_line([&] { check_rank_options(options_); }).rfind("--ranks, --per-node: found both", 0), 0u);
}

TEST_F(NodeRankTest, RanksLendNoCores) {
  options_.publish.elastic = true;
  options_.program = {"./solver"};
  EXPECT_NO_THROW(check_rank_options(options_)) << "one process";
  options_.ranks = 2;
  EXPECT_EQ(
      failure_line([&] { check_rank_options(options_); }),
      "--elastic on: found with --ranks, expected --elastic off: ranks do not lend their cores, because while one "
      "rank waits, others may compute on the same cores");
  options_.ranks = 0;
  options_.per_node = true;
  EXPECT_EQ(failure_line([&] { check_rank_options(options_); }).rfind("--elastic on: found with --per-node, ", 0), 0u);
  options_.publish.elastic = false;
  EXPECT_NO_THROW(check_rank_options(options_));
}

TEST_F(NodeRankTest, EachLauncherTellsTheNumberOnTheNode) {
  for (const char* name : kVariables) {
    setenv(name, "3", 1);
    EXPECT_EQ(rank_on_node(), 3) << name;
    unsetenv(name);
  }
}

TEST_F(NodeRankTest, WithoutALauncherItIsNotKnown) {
  EXPECT_EQ(failure_line([] { (void)rank_on_node(); }),
            "--per-node: found none of OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, "
            "MV2_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID; expected a start by mpirun or srun");
  setenv("SLURM_LOCALID", "x", 1);
  EXPECT_EQ(failure_line([] { (void)rank_on_node(); }),
            "SLURM_LOCALID: found 'x', expected the number of this process on its node");
}

TEST_F(NodeRankTest, EachLauncherTellsTheNumberInTheJob) {
  EXPECT_TRUE(is_first_of_job());
  for (const char* name : kJobVariables) {
    setenv(name, "3", 1);
    EXPECT_FALSE(is_first_of_job()) << name;
    setenv(name, "0", 1);
    EXPECT_TRUE(is_first_of_job()) << name;
    unsetenv(name);
  }
}

TEST_F(NodeRankTest, TheNameOfTheNodeReplacesItsMark) {
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  EXPECT_EQ(with_host("/p/%h/%h.pool"), std::string("/p/") + host + "/" + host + ".pool");
  EXPECT_EQ(with_host("/p/a.pool"), "/p/a.pool");
}

TEST_F(NodeRankTest, AllProcessesOfOneParentFindTheSameFolder) {
  EXPECT_EQ(node_folder_name().size(), 6u);
  EXPECT_EQ(node_folder_name(), node_folder_name());
}

}  // namespace
}  // namespace ringside
