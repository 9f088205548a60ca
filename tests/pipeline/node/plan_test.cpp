// SPDX-License-Identifier: BSD-3-Clause
// `ringside plan`, run as a user runs it: for a published node, and for a problem without a matrix. Also tests what the
// command refuses.
#include <gtest/gtest.h>
#include <unistd.h>

#include "node/file/matrix_file.hpp"
#include "node/file/node_file.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class PlanCommandTest : public PipelineTest {
 protected:
  static Words published(const Words& more) {
    return joined({"plan", std::string("--node=") + RINGSIDE_PUBLISHED_NODE}, more);
  }

  void expect_refused(const Words& arguments, int code, const Words& fragments) const {
    const Finished ran = run("ringside", arguments, [&] { setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); });
    EXPECT_EQ(ran.exit_code, code) << ran.err;
    EXPECT_EQ(ran.out, "");
    expect_one_line(ran.err, fragments);
  }
};

TEST_F(PlanCommandTest, APublishedNodeIsPlannedForAProblemWithoutAMatrix) {
  const Finished ran =
      expect_done(published({"--rows=16000000", "--nonzeros=127952004", "--iterations=5000", "--passes=5", "--json"}));
  const Json plan = Json::parse(ran.out);
  ASSERT_EQ(plan["rows"].size(), 15u);
  for (const Json& row : plan["rows"]) {
    EXPECT_EQ(row["producer_cores"].get<int>() + row["analyzer_cores"].get<int>(), 16);
    EXPECT_LE(row["low_s"], row["total_s"]);
    EXPECT_GE(row["high_s"], row["total_s"]);
  }
  const Json best = plan["rows"][plan["best"].get<std::size_t>()];
  for (const Json& row : plan["rows"]) EXPECT_LE(best["expected_s"], row["expected_s"]);
}

TEST_F(PlanCommandTest, AGeneratedMatrixIsPlannedByItsName) {
  const Finished ran = expect_done(published({"--matrix=grid:2000", "--iterations=5000", "--passes=5"}));
  expect_has(ran.out, {"grid:2000: 4,000,000 rows, 31,976,004 nonzeros", "* least expected time: 8 + 8 cores"});
  EXPECT_NE(ran.out.find("n/a"), std::string::npos) << "what the node file lacks is not named";
}

TEST_F(PlanCommandTest, AMatrixThatIsLargerThanItsDramIsPlannedAsInDramWithARemark) {
  const Finished ran = expect_done(published({"--matrix=grid:2000", "--matrix-memory=far:/mnt", "--dram-limit=40M"}));
  expect_has(ran.out, {"3.8 times --dram-limit. The times here assume a matrix in DRAM"});
  expect_refused(published({"--matrix=grid:2000", "--dram-limit=40M"}), 2, {"--dram-limit: found 41943040"});
}

TEST_F(PlanCommandTest, AMatrixFileIsKnownUnderEverySpellingUntilItIsChanged) {
  const std::string matrix = write_file("a.txt", "0 1\n1 0\n");
  Node node = read_node(RINGSIDE_PUBLISHED_NODE);
  for (KernelFigures& kernel : node.kernels) {
    kernel.problem.matrix = "a.txt";
    kernel.problem.file = matrix_file(matrix);
  }
  const std::string node_file = write_file("node.json", node_text(node));
  const auto planned = [&](const std::string& spelling) {
    const Finished ran = run("ringside", {"plan", "--json", "--node=" + node_file, "--matrix=" + spelling},
                             [&] { EXPECT_EQ(chdir(folder_.path().c_str()), 0); });
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return Json::parse(ran.out)["remarks"].dump();
  };
  for (const std::string& spelling : {std::string("a.txt"), std::string("./a.txt"), matrix}) {
    EXPECT_EQ(planned(spelling).find("no figures for this problem"), std::string::npos) << spelling;
  }
  write_file("a.txt", "0 1\n1 0\n1 1\n");
  expect_has(planned("./a.txt"), {"--matrix ./a.txt: the file was changed", "no figures for this problem"});
}

TEST_F(PlanCommandTest, ThePageHoldsThePlanAndNothingFromElsewhere) {
  const std::string page = folder_.file("plan.html");
  expect_done(published({"--matrix=grid:100", "--output=" + page}));
  const std::string text = content_of(page);
  expect_has(text, {"\"expected_s\""});
  expect_lacks(text, {"RINGSIDE_REPORT_DATA", "src=\"http"});
}

TEST_F(PlanCommandTest, AFileByHandWithDramAloneIsPlannedForSlotsInDram) {
  Node node = read_node(RINGSIDE_PUBLISHED_NODE);
  node.competitions.clear();
  std::erase_if(node.streams, [](const StreamFigures& streams) { return streams.tier != "dram"; });
  node.tiers.resize(1);
  const std::string node_file = write_file("node.json", node_text(node));
  const Finished ran = expect_done({"plan", "--json", "--node=" + node_file, "--matrix=grid:100"});
  EXPECT_EQ(Json::parse(ran.out)["memory"], "dram");
}

TEST_F(PlanCommandTest, ProblemsWithoutASizeAreRefused) {
  expect_refused(published({}), 2, {"--matrix", "--rows"});
  expect_refused(published({"--rows=5"}), 2, {"--rows: found without --nonzeros"});
  expect_refused(published({"--nonzeros=5"}), 2, {"--nonzeros: found without --rows"});
  expect_refused(published({"--rows=5", "--nonzeros=5", "--matrix=grid:2"}), 2, {"--matrix and --rows"});
  expect_refused(published({"--matrix=" + write_file("a.txt", "0 1\n1 0\n")}), 2, {"a.txt", "ringside calibrate"});
  expect_refused(published({"--matrix=grid:x"}), 2, {"grid:x"});
}

TEST_F(PlanCommandTest, MemoriesAndCoresThatTheNodeLacksAreRefused) {
  expect_refused(published({"--matrix=grid:10", "--memory=/pmem"}), 2, {"/pmem", "dram, nvdimm"});
  expect_refused(published({"--matrix=grid:10", "--producer-cores=0-15", "--analyzer-cores=16"}), 2, {"16 cores"});
  expect_refused(published({"--matrix=grid:10", "--elastic"}), 2, {"no configuration that fits"});
}

TEST_F(PlanCommandTest, NodeFilesThatAreNoneAreRefused) {
  expect_refused({"plan", "--matrix=grid:10"}, 2, {"node.json", "ringside calibrate"});
  expect_refused({"plan", "--matrix=grid:10", "--node=" + folder_.file("none.json")}, 2, {"none.json"});
  expect_refused({"plan", "--matrix=grid:10", "--node=" + write_file("n.json", "{\"format\":")}, 2, {"n.json"});
  expect_refused({"plan", "--matrix=grid:10", "--node=" + write_file("n.json", "{\"format\": \"else\"}")}, 2,
                 {"n.json", "ringside.node"});
}

TEST_F(PlanCommandTest, AFileThatTheCommandReadsIsNotReplaced) {
  const std::string matrix = write_file("m.txt", "0 1\n1 0\n");
  expect_refused(published({"--matrix=" + matrix, "--output=" + matrix}), 2, {"--output", "--matrix"});
  expect_refused(published({"--matrix=grid:10", "--json", "--output=-"}), 2, {"--json", "--output -"});
}

TEST_F(PlanCommandTest, APageThatCannotBeWrittenIsRefused) {
  expect_refused(published({"--matrix=grid:10", "--output=" + folder_.file("no/folder.html")}), 3, {"--output"});
}

TEST_F(PlanCommandTest, AMeasuredNodeIsSimulatedManyTimesWithoutANodeFile) {
  const Finished ran = expect_done({"plan", "--nodes=64", "--step-figures=10,2,3,32", "--json"});
  const Json many = Json::parse(ran.out)["many_nodes"];
  EXPECT_EQ(many["node"]["generate_s"], 0.01);
  EXPECT_EQ(many["node"]["step_bytes"], 32e6);
  std::vector<int> nodes;
  for (const Json& row : many["rows"]) nodes.push_back(row["nodes"].get<int>());
  EXPECT_EQ(nodes, (std::vector<int>{1, 4, 16, 64}));
  EXPECT_EQ(many["rows"][3]["committed_lag"]["most"], 1);
}

TEST_F(PlanCommandTest, APlannedNodeIsSimulatedManyTimesBelowItsPlan) {
  const Words words = published({"--matrix=grid:2000", "--iterations=50", "--passes=5", "--nodes=2,3"});
  const Finished ran = expect_done(words);
  EXPECT_LT(ran.out.find("* least expected time: 8 + 8 cores"), ran.out.find("ringside plan: many nodes")) << ran.out;
  Words as_json = words;
  as_json.emplace_back("--json");
  const Json object = Json::parse(run("ringside", as_json).out);
  const Json& many = object["many_nodes"];
  EXPECT_EQ(many["rows"].size(), 2u);
  const Json& best = object["rows"][object["best"].get<std::size_t>()];
  EXPECT_NEAR(many["node"]["generate_s"].get<double>(), best["generate_s"].get<double>() / 50, 1e-9);
}

TEST_F(PlanCommandTest, ASlowAnalyzerIsNamed) {
  const Finished ran = expect_done({"plan", "--nodes=3,5", "--step-figures=10,2,3,32", "--slow-analyzer=10"});
  expect_has(ran.out, {"node 4 waited longest for its analyzer: "});
}

TEST_F(PlanCommandTest, ASlowSolverHoldsUpTheOthersButNotByItsAnalyzer) {
  const Finished ran = expect_done({"plan", "--nodes=3,5", "--step-figures=10,2,3,32", "--slow-solver=4", "--json"});
  const Json row = Json::parse(ran.out)["many_nodes"]["rows"][1];
  EXPECT_GT(row["step_s"], 0.035);
  EXPECT_GT(row["coupling_s"], 0.02);
  EXPECT_EQ(row["waited_most_s"], 0);
}

TEST_F(PlanCommandTest, RoundsThatTakeTooLongForTheStoresOfPartsAreNamed) {
  const Words words = {"plan", "--nodes=4,40,400", "--step-figures=10,2,3,32", "--iterations=200"};
  const Finished ran = expect_done(words);
  expect_lacks(ran.out, {"results of the whole run"});
  Words slow = words;
  slow.emplace_back("--turn-cost=8000");  // 400 nodes: 3.2 s
  expect_has(run("ringside", slow).out, {"rounds of 400 nodes take too long"});
  slow.back() = "--turn-cost=20000";  // longer than a step
  expect_has(run("ringside", slow).out, {"rounds of 4 nodes take too long"});
}

TEST_F(PlanCommandTest, OptionsOfManyNodesThatDescribeNoneAreRefused) {
  const std::string figures = "--step-figures=10,2,3,32";
  expect_refused({"plan", figures}, 2, {"--step-figures: found without --nodes"});
  expect_refused({"plan", "--nodes=10001", figures}, 2, {"--nodes: found '10001'", "10000"});
  expect_refused({"plan", "--nodes=2", "--network=token-ring", figures}, 2,
                 {"--network: found 'token-ring'", "infiniband"});
  expect_refused({"plan", "--nodes=2", "--network=5,0", figures}, 2, {"--network: found '5,0'"});
  for (const char* wrong : {"1.5", "0.1,1.5", "0.1,0.1,0.1", "much"}) {
    expect_refused({"plan", "--nodes=2", std::string("--spread=") + wrong, figures}, 2,
                   {"--spread: found", "0.05,0.2"});
  }
  for (const char* wrong : {"10,2,3", "10,2,3,4,5", "0,2,3,4", "10,2,x,4", ""}) {
    expect_refused({"plan", "--nodes=2", std::string("--step-figures=") + wrong}, 2, {"--step-figures"});
  }
  expect_refused({"plan", "--nodes=2", figures, "--matrix=grid:100"}, 2, {"--step-figures: found with --matrix"});
  expect_refused({"plan", "--nodes=2", figures, "--output=x.html"}, 2, {"--step-figures: found with --output"});
}

}  // namespace
}  // namespace ringside
