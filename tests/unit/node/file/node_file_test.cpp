// SPDX-License-Identifier: BSD-3-Clause
#include "node/file/node_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <limits>

#include "common/platform/error.hpp"
#include "producer/solver/solver_table.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/node/model/testing_node.hpp"

namespace ringside {
namespace {

using testing::four_cores;

/// The message with which a text is refused, after the name of the file; empty if the text is accepted.
std::string refusal_of(const std::string& text) {
  return between("my.json: ", failure_line([&] { parse_node(text, "my.json"); }), "");
}

Json written() {
  return Json::parse(to_json(four_cores()).dump());
}

class NodeFileTest : public ::testing::Test {
 protected:
  std::string refusal() const { return refusal_of(file_.dump()); }

  Json file_ = written();
};

TEST_F(NodeFileTest, WhatIsWrittenReadsBackAsItWas) {
  Node node = four_cores();
  node.fingerprint = Fingerprint{"a cpu", 4, "0-3", 1u << 30, "6.1", "0.2.0"};
  node.measured_at = "2026-11-23T01:00:00Z";
  node.remarks = {"a remark"};
  node.kernels[0].problem.matrix = "./a.mtx";
  node.kernels[0].problem.file = MatrixFile{.path = "/x/a.mtx",
                                            .size_bytes = 5,
                                            .mtime_ns = 1'795'395'600'000'000'001,
                                            .inode = std::numeric_limits<std::uint64_t>::max(),
                                            .ctime_ns = 1'795'395'600'000'000'002};
  node.clock_ghz = testing::series_of(3, 4, 0.01);
  node.tiers[1].sync_s = Measured{.value = 1e-3, .spread = 0.1};
  node.pairs = {testing::pair_of(1, {.value = 1, .spread = 0.5}, 3, {.value = 2})};
  const std::string text = to_json(node).dump();
  EXPECT_EQ(to_json(parse_node(text, "my.json")).dump(), text);
}

TEST_F(NodeFileTest, TheSolverDeterminesTheVectorsOfAStep) {
  file_["kernels"][0]["problem"]["solver"] = "cg";
  const Node node = parse_node(file_.dump(), "my.json");
  EXPECT_EQ(node.kernels[0].problem.vectors, 3);
  EXPECT_EQ(node.kernels[0].problem.vector_bytes_per_row, 88);
  EXPECT_EQ(node.kernels[1].problem.vectors, 1);
}

TEST_F(NodeFileTest, EveryTruncationIsRefused) {
  const std::string text = to_json(four_cores()).dump();
  for (std::size_t bytes = 0; bytes < text.size(); bytes += 7) {
    EXPECT_NE(refusal_of(text.substr(0, bytes)), "") << bytes;
  }
}

TEST_F(NodeFileTest, EveryKeyThatIsTakenAwayFromTheTopIsMissedUnlessItIsOptional) {
  for (const char* key : {"format", "version", "name", "origin", "cores", "tiers", "streams", "kernels"}) {
    file_ = written();
    file_.erase(key);
    EXPECT_NE(refusal().find(std::string("'") + key + "'"), std::string::npos) << key;
  }
  for (const char* key : {"pairs", "costs", "remarks", "competitions"}) {
    file_ = written();
    file_.erase(key);
    EXPECT_EQ(refusal(), "") << key;
  }
}

TEST_F(NodeFileTest, AnUnknownKeyIsRefused) {
  file_["kernels"][0]["second"] = 1;
  expect_has(refusal(), {"kernels[0]: found the key 'second'"});
}

TEST_F(NodeFileTest, FiguresThatAreNotAboveZeroAreRefusedWithTheirPlace) {
  for (const Json& figure : {Json(-1), Json(0), Json("7"), Json(nullptr)}) {
    file_ = written();
    file_["kernels"][1]["seconds"][0][1] = figure;
    expect_has(refusal(), {"kernels[1].seconds[0][1]"});
  }
}

TEST_F(NodeFileTest, ThreadCountsMustAscend) {
  file_["streams"][0]["gb_s"][1][0] = 1;
  expect_has(refusal(), {"more than 1, the threads of the entry before"});
}

TEST_F(NodeFileTest, ATierThatIsNotInTheListOfTiersIsRefused) {
  file_["kernels"][0]["tier"] = "/pmem";
  expect_has(refusal(), {"dram, /dev/shm"});
}

TEST_F(NodeFileTest, NamesThatTheModelDoesNotHaveAreRefusedWithThoseItHas) {
  file_["streams"][0]["kernel"] = "coppy";
  EXPECT_EQ(refusal(),
            "streams[0].kernel: found \"coppy\", expected one of read, copy, copy_nontemporal, scale, add, triad");
  file_ = written();
  file_["kernels"][0]["problem"]["solver"] = "page_rank";
  EXPECT_EQ(refusal(), fmt::format("kernels[0].problem.solver: found \"page_rank\", expected one of {}",
                                   fmt::join(names_of(solver_choices()), ", ")));
}

TEST_F(NodeFileTest, AMatrixFileNeedsAFullPathASizeAndATime) {
  file_["kernels"][0]["problem"]["file"] = {{"path", "/x/a.mtx"}, {"size_bytes", 5}, {"mtime_ns", 7}};
  EXPECT_EQ(refusal(), "");  // as in files from before inode and ctime_ns existed
  file_["kernels"][0]["problem"]["file"]["inode"] = 3;
  file_["kernels"][0]["problem"]["file"]["ctime_ns"] = 9;
  EXPECT_EQ(refusal(), "");
  file_["kernels"][0]["problem"]["file"]["path"] = "a.mtx";
  EXPECT_EQ(refusal(), "kernels[0].problem.file.path: found \"a.mtx\", expected an absolute path");
  file_["kernels"][0]["problem"]["file"] = {{"path", "/x/a.mtx"}, {"size_bytes", 5}};
  expect_has(refusal(), {"'mtime_ns' is missing"});
}

TEST_F(NodeFileTest, ASecondEntryOfTheSameStreamIsRefused) {
  file_["streams"].push_back(file_["streams"][0]);
  EXPECT_EQ(refusal(), "streams[1].kernel: found \"read\", expected another kernel or tier than streams[0]");
  file_["streams"][1]["tier"] = "/dev/shm";
  EXPECT_EQ(refusal(), "");
}

TEST_F(NodeFileTest, ASecondEntryOfTheSameKernelIsRefused) {
  file_["kernels"].push_back(file_["kernels"][1]);
  const std::string last = "kernels[" + std::to_string(file_["kernels"].size() - 1) + "]";
  EXPECT_EQ(refusal(),
            last + ".kernel: found \"transfer\", expected another kernel, problem, tier or synced than kernels[1]");
  file_["kernels"].back()["synced"] = true;
  EXPECT_EQ(refusal(), "");
  file_["kernels"].back()["synced"] = false;
  file_["kernels"].back()["problem"]["matrix"] = "another.mtx";
  EXPECT_EQ(refusal(), "");
}

Json pair_of(int first_threads, int second_threads) {
  Json row = {first_threads, second_threads, 0.5, 0.25};
  return {{"first", "generate"},
          {"second", "transfer"},
          {"problem", {{"rows", 10}, {"nonzeros", 20}}},
          {"tier", "/dev/shm"},
          {"rows", Json::array({std::move(row)})}};
}

TEST_F(NodeFileTest, ASecondRowOfTheSamePairAndSplitIsRefusedInAnyEntry) {
  file_["pairs"] = {pair_of(1, 3), pair_of(2, 2)};
  EXPECT_EQ(refusal(), "");
  file_["pairs"][1]["rows"].push_back({1, 3, 0.5, 0.25});
  EXPECT_EQ(refusal(), "pairs[1].rows[1][0]: found 1, expected a new split: 1 and 3 threads already have a row");
  file_["pairs"][1]["second"] = "analyze";
  EXPECT_EQ(refusal(), "");
}

TEST_F(NodeFileTest, APairHasGenerateFirstAndACopyOrASweepSecond) {
  file_["pairs"] = Json::array({pair_of(1, 3)});
  for (const char* second : {"transfer", "transfer_reduced", "analyze", "sweep"}) {
    file_["pairs"][0]["second"] = second;
    EXPECT_EQ(refusal(), "") << second;
  }
  file_["pairs"][0]["second"] = "commit";
  EXPECT_EQ(refusal(), "pairs[0].second: found \"commit\", expected one of transfer, transfer_reduced, analyze, sweep");
  file_["pairs"][0]["first"] = "analyze";
  EXPECT_EQ(refusal(), "pairs[0].first: found \"analyze\", expected generate");
}

TEST_F(NodeFileTest, APairUsesAtMostTheCoresOfTheNode) {
  file_["pairs"] = Json::array({pair_of(1, 4)});
  EXPECT_EQ(refusal(),
            "pairs[0].rows[0][1]: found 4, expected at most 3: both kernels together have the 4 cores of the node");
  file_["pairs"] = Json::array({pair_of(4, 1)});
  EXPECT_EQ(refusal(), "pairs[0].rows[0][0]: found 4, expected less than the node's cores (4)");
}

TEST_F(NodeFileTest, AllPairsTogetherHaveALimitedNumberOfRows) {
  file_["cores"] = 1000;
  file_["pairs"] = {pair_of(1, 1), pair_of(500, 2)};
  file_["pairs"][0]["rows"] = Json::array();
  for (int row = 0; row < 4096; ++row) file_["pairs"][0]["rows"].push_back({1 + row % 64, 1 + row / 64, 0.5, 0.25});
  expect_has(refusal(), {"pairs[1].rows: found a list, expected at most 4096 rows in all pairs"});
  file_["pairs"] = Json::array({file_["pairs"][0]});
  EXPECT_EQ(refusal(), "");
}

TEST_F(NodeFileTest, AKeyThatAnObjectHasTwiceIsRefused) {
  const std::string text = written().dump();
  EXPECT_EQ(refusal_of("{\"name\": \"first\", " + text.substr(1)),
            "found the key 'name' twice in one object, expected each key once");
  const std::string tier = "\"kind\":\"tmpfs\"";
  std::string inner = text;
  inner.replace(inner.find(tier), tier.size(), tier + "," + tier);
  EXPECT_EQ(refusal_of(inner), "found the key 'kind' twice in one object, expected each key once");
}

TEST_F(NodeFileTest, TheCoresAreThoseOfTheFingerprint) {
  Node node = four_cores();
  node.fingerprint = Fingerprint{"a cpu", 5, "0-4", 1u << 30, "6.1", "0.2.0"};
  EXPECT_EQ(refusal_of(to_json(node).dump()), "cores: found 4, expected 5, the cores of the fingerprint");
}

TEST_F(NodeFileTest, TheTimeOfTheMeasurementIsInUtc) {
  file_["measured_at"] = "2026-11-23T01:00:00Z";
  EXPECT_EQ(refusal(), "");
  for (const char* time : {"", "today", "2026-11-23T01:00:00", "2026-11-23 01:00:00Z", "2026-11-23T01:00:00Z\u001b"}) {
    file_["measured_at"] = time;
    EXPECT_NE(refusal().find("expected a time in UTC such as \"2026-11-23T01:00:00Z\""), std::string::npos) << time;
  }
}

TEST_F(NodeFileTest, TheFirstTierSharesNoChannels) {
  file_["tiers"][0]["shares_with"] = "/dev/shm";
  EXPECT_EQ(refusal(),
            "tiers[0].shares_with: found \"/dev/shm\", expected no such key: the first tier has channels of its own");
}

TEST_F(NodeFileTest, ATextIsOnlyMadeOfWhatReadsBack) {
  Node node = four_cores();
  EXPECT_EQ(to_json(parse_node(node_text(node), "my.json")).dump(), to_json(node).dump());
  node.costs.loan_s = Measured{.value = 0};
  expect_has(failure_line([&] { node_text(node); }, ExitCode::kSystem), {"costs.loan_s"});
}

TEST_F(NodeFileTest, TheFirstTierMustBeDramAndNamesMustDiffer) {
  file_["tiers"][0]["kind"] = "dax";
  EXPECT_NE(refusal(), "");
  file_ = written();
  file_["tiers"][1]["name"] = "dram";
  EXPECT_NE(refusal(), "");
}

TEST_F(NodeFileTest, DeepNestingIsRefusedAndDoesNoHarm) {
  const std::string deep(500'000, '[');
  expect_has(refusal_of(deep + std::string(500'000, ']')), {"nested"});
  file_["name"] = Json::array({Json::array({1})});
  expect_has(refusal(), {"found a list"});
}

TEST_F(NodeFileTest, FiguresThatNoMachineHasAreRefused) {
  for (const Json& figure : {Json(1e300), Json(1e-300)}) {
    file_ = written();
    file_["kernels"][0]["seconds"][0][1] = figure;
    EXPECT_NE(refusal(), "") << figure;
  }
  file_["kernels"][0]["seconds"][0][1] = {{"value", 1}, {"spread", 1e9}};
  expect_has(refusal(), {"spread"});
}

TEST_F(NodeFileTest, ANewerVersionIsRefused) {
  file_["version"] = 2;
  expect_has(refusal(), {"newer"});
}

TEST_F(NodeFileTest, AFileThatIsNotThereSaysHowToGetOne) {
  expect_has(failure_line([] { read_node("/nonexistent/node.json"); }), {"ringside calibrate"});
}

TEST_F(NodeFileTest, FiguresOfAnotherMachineAreRefusedNamingWhatDiffers) {
  const Fingerprint here{"a cpu", 4, "0-3", 1u << 30, "6.1", "0.2.0"};
  Node node = four_cores();
  EXPECT_THROW(refuse_foreign(node, "my.json", here), Error);  // written by hand
  node.fingerprint = here;
  EXPECT_NO_THROW(refuse_foreign(node, "my.json", here));
  const auto refused = [&](auto change) {
    node.fingerprint = here;
    change(*node.fingerprint);
    return failure_line([&] { refuse_foreign(node, "my.json", here); });
  };
  expect_has(refused([](Fingerprint& f) { f.cpu = "another"; }), {"processor: found another, here it is a cpu"});
  expect_has(refused([](Fingerprint& f) { f.cpus = "0-2,4"; }), {"0-2,4"});
  expect_has(refused([](Fingerprint& f) { f.kernel = "6.2"; }), {"6.2"});
  expect_has(refused([](Fingerprint& f) { f.build = "0.3.0"; }), {"build of Ringside"});
}

}  // namespace
}  // namespace ringside
