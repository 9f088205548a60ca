// SPDX-License-Identifier: BSD-3-Clause
// The options of `ringside run` with a program of the user, and the environment that the program gets.
#include "cli/run/program_options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "cli/run/run_options.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

/// The error of `ringside run OPTIONS -- ./solver --iterations 5`; empty if nothing is refused.
std::string refused(std::vector<const char*> words) {
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"--", "./solver", "--iterations", "5"});
  RunOptions options;
  CommandLine line("", "ringside run");
  declare(line, options);
  EXPECT_EQ(parse_or_exit_code(line, static_cast<int>(words.size()), words.data()), std::nullopt);
  EXPECT_EQ(options.program, (std::vector<std::string>{"./solver", "--iterations", "5"}));
  return failure_line([&] { refuse_solver_options(line, options.program.front()); });
}

/// The environment variables that a program gets on the cores 0, 1, 2 and 4.
std::map<std::string, std::string> environment(int ranks, const ProgramPlaces& places = {"/s", "/p"},
                                               const PublishOptions& publish = {}, const PeerOptions& peer = {}) {
  const auto variables = program_environment(publish, peer, places, {0, 1, 2, 4}, ranks);
  return {variables.begin(), variables.end()};
}

TEST(ProgramOptionsTest, OptionsOfTheAnalyzerTheHandOffAndTheCoresGoWithAProgram) {
  EXPECT_EQ(refused({"--pool=p", "--slots=4", "--durability=process", "--journal=off", "--telemetry=off", "--passes=2",
                     "--reduce=transfer", "--buffers=3", "--coordination=messages", "--on-analyzer-loss=stop",
                     "--peer-timeout=1", "--resume", "--elastic", "--cores=auto", "--producer-cores=0",
                     "--analyzer-cores=1", "--quiet", "--summary=s.json"}),
            "");
}

TEST(ProgramOptionsTest, OptionsOfASolverAreRefusedAllAtOnce) {
  EXPECT_EQ(
      refused({"--iterations=3", "--matrix", "grid:3", "--adapt"}),
      "--matrix, --iterations, --adapt: found before `-- ./solver`, expected no option of a built-in solver there; "
      "the program's own options follow its name");
  for (const char* option :
       {"--solver=jacobi", "--rhs=f", "--damping=.5", "--tolerance=1", "--every=2", "--cache", "--matrix-format=csr",
        "--matrix-memory=far:/f", "--dram-limit=1M", "--mode=pipeline", "--when-full=wait", "--node=f"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find('='));
    EXPECT_EQ(refused({option}).rfind(name + ": found before", 0), 0u) << option;
  }
}

TEST(ProgramOptionsTest, TheAnalyzersArgumentsNameThePoolAndTheReductionOnce) {
  RunOptions options;
  options.ring.pool = "trial.pool";
  options.reduce.at = ReduceAt::kTransfer;
  std::vector<std::string> arguments = {"--pool=own.pool", "--reduce-with=a.so:b", "--slots=4"};
  complete_analyzer_arguments(arguments, options, "/s", {.producer = {0}, .analyzer = {1}, .reason = {}});
  EXPECT_EQ(arguments, (std::vector<std::string>{"--reduce-with=a.so:b", "--slots=4", "--pool=trial.pool",
                                                 "--reduce=transfer", "--supervised", "--socket=/s", "--cores=1"}));
}

TEST(ProgramOptionsTest, TheEnvironmentIsThatOfTheOptions) {
  PublishOptions publish;
  publish.buffers = 5;
  publish.overwrite = true;
  publish.on_analyzer_loss = OnAnalyzerLoss::kStop;
  unsetenv("OMP_NUM_THREADS");
  const std::map<std::string, std::string> expected = {
      {"RINGSIDE_SOCKET", "/s"},          {"RINGSIDE_POOL", "/p"},          {"RINGSIDE_RESUME_FROM", "/earlier"},
      {"RINGSIDE_CORES", "0-2,4"},        {"OMP_NUM_THREADS", "4"},         {"RINGSIDE_POOL_USE", "overwrite"},
      {"RINGSIDE_BUFFERS", "5"},          {"RINGSIDE_PEER_TIMEOUT", "2.5"}, {"RINGSIDE_ON_ANALYZER_LOSS", "stop"},
      {"RINGSIDE_COORDINATION", "locks"}, {"RINGSIDE_ELASTIC", "off"}};
  EXPECT_EQ(environment(0, {"/s", "/p", "/earlier"}, publish, {.timeout_s = 2.5}), expected);
}

TEST(ProgramOptionsTest, AProgramThatLendsItsCoresHasOpenMpThreadsThatSleepUnlessTheUserDecides) {
  PublishOptions publish;
  const char* const set = std::getenv("OMP_WAIT_POLICY");
  const std::optional<std::string> before = set != nullptr ? std::optional<std::string>(set) : std::nullopt;
  unsetenv("OMP_WAIT_POLICY");
  EXPECT_FALSE(environment(0).contains("OMP_WAIT_POLICY"));
  publish.elastic = true;
  EXPECT_EQ(environment(0, {"/s", "/p"}, publish).at("RINGSIDE_ELASTIC"), "on");
  EXPECT_EQ(environment(0, {"/s", "/p"}, publish).at("OMP_WAIT_POLICY"), "passive");
  setenv("OMP_WAIT_POLICY", "active", 1);
  EXPECT_FALSE(environment(0, {"/s", "/p"}, publish).contains("OMP_WAIT_POLICY"));
  unsetenv("OMP_WAIT_POLICY");
  if (before) setenv("OMP_WAIT_POLICY", before->c_str(), 1);
}

TEST(ProgramOptionsTest, RanksShareTheCores) {
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(environment(2).at("RINGSIDE_RESUME_FROM"), "") << "not what this process has inherited";
  EXPECT_EQ(environment(2).at("OMP_NUM_THREADS"), "2");
}

TEST(ProgramOptionsTest, MoreRanksThanCoresAreStartedUnlessTheUserDecides) {
  for (const char* name : {"OMPI_MCA_rmaps_base_oversubscribe", "PRTE_MCA_rmaps_default_mapping_policy"})
    unsetenv(name);
  EXPECT_FALSE(environment(4).contains("OMPI_MCA_rmaps_base_oversubscribe"));
  EXPECT_EQ(environment(5).at("OMPI_MCA_rmaps_base_oversubscribe"), "1");
  EXPECT_EQ(environment(5).at("PRTE_MCA_rmaps_default_mapping_policy"), ":oversubscribe");
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "0", 1);
  EXPECT_FALSE(environment(5).contains("OMPI_MCA_rmaps_base_oversubscribe"));
  unsetenv("OMPI_MCA_rmaps_base_oversubscribe");
}

TEST(ProgramOptionsTest, AnOwnNumberOfThreadsIsKept) {
  setenv("OMP_NUM_THREADS", "2", 1);
  EXPECT_FALSE(environment(0).contains("OMP_NUM_THREADS"));
  unsetenv("OMP_NUM_THREADS");
}

}  // namespace
}  // namespace ringside
