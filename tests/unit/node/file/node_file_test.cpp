// SPDX-License-Identifier: BSD-3-Clause
#include "node/file/node_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <limits>

#include "common/platform/error.hpp"
#include "producer/solver/solver_table.hpp"
#include "tests/unit/node/model/testing_node.hpp"

namespace ringside {
namespace {

using testing::four_cores;

/// The message with which a text is refused; empty if it is accepted.
std::string refusal_of(const std::string& text) {
  try {
    parse_node(text, "my.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  return "";
}

Json written() {
  return Json::parse(to_json(four_cores()).dump());
}

TEST(NodeFileTest, WhatIsWrittenReadsBackAsItWas) {
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
  PairFigures pair;
  pair.problem = testing::grid_of_100();
  pair.tier = "/dev/shm";
  pair.first_threads = 1;
  pair.second_threads = 3;
  pair.first_s = {.value = 1, .spread = 0.5};
  pair.second_s = {.value = 2};
  node.pairs = {pair};
  const std::string text = to_json(node).dump();
  EXPECT_EQ(to_json(parse_node(text, "my.json")).dump(), text);
}

TEST(NodeFileTest, EveryTruncationIsRefused) {
  const std::string text = to_json(four_cores()).dump();
  for (std::size_t bytes = 0; bytes < text.size(); bytes += 7) {
    EXPECT_NE(refusal_of(text.substr(0, bytes)), "") << bytes;
  }
}

TEST(NodeFileTest, EveryKeyThatIsTakenAwayFromTheTopIsMissedUnlessItIsOptional) {
  for (const char* key : {"format", "version", "name", "origin", "cores", "tiers", "streams", "kernels"}) {
    Json file = written();
    file.erase(key);
    EXPECT_NE(refusal_of(file.dump()).find(std::string("'") + key + "'"), std::string::npos) << key;
  }
  for (const char* key : {"pairs", "costs", "remarks", "competitions"}) {
    Json file = written();
    file.erase(key);
    EXPECT_EQ(refusal_of(file.dump()), "") << key;
  }
}

TEST(NodeFileTest, AnUnknownKeyIsRefused) {
  Json file = written();
  file["kernels"][0]["second"] = 1;
  EXPECT_NE(refusal_of(file.dump()).find("kernels[0]: found the key 'second'"), std::string::npos);
}

TEST(NodeFileTest, FiguresThatAreNotAboveZeroAreRefusedWithTheirPlace) {
  for (const Json& figure : {Json(-1), Json(0), Json("7"), Json(nullptr)}) {
    Json file = written();
    file["kernels"][1]["seconds"][0][1] = figure;
    const std::string refusal = refusal_of(file.dump());
    EXPECT_NE(refusal.find("kernels[1].seconds[0][1]"), std::string::npos) << refusal;
  }
}

TEST(NodeFileTest, ThreadCountsMustAscend) {
  Json file = written();
  file["streams"][0]["gb_s"][1][0] = 1;
  EXPECT_NE(refusal_of(file.dump()).find("more than the 1 threads before"), std::string::npos);
}

TEST(NodeFileTest, ATierThatIsNotInTheListOfTiersIsRefused) {
  Json file = written();
  file["kernels"][0]["tier"] = "/pmem";
  EXPECT_NE(refusal_of(file.dump()).find("dram, /dev/shm"), std::string::npos);
}

TEST(NodeFileTest, NamesThatTheModelDoesNotHaveAreRefusedWithThoseItHas) {
  Json file = written();
  file["streams"][0]["kernel"] = "coppy";
  EXPECT_EQ(
      refusal_of(file.dump()),
      "my.json: streams[0].kernel: found \"coppy\", expected one of read, copy, copy_nontemporal, scale, add, triad");
  file = written();
  file["kernels"][0]["problem"]["solver"] = "page_rank";
  EXPECT_EQ(refusal_of(file.dump()),
            fmt::format("my.json: kernels[0].problem.solver: found \"page_rank\", expected one of {}",
                        fmt::join(names_of(solver_choices()), ", ")));
}

TEST(NodeFileTest, AMatrixFileNeedsAFullPathASizeAndATime) {
  Json file = written();
  file["kernels"][0]["problem"]["file"] = {{"path", "/x/a.mtx"}, {"size_bytes", 5}, {"mtime_ns", 7}};
  EXPECT_EQ(refusal_of(file.dump()), "");  // as written before inode and ctime_ns were
  file["kernels"][0]["problem"]["file"]["inode"] = 3;
  file["kernels"][0]["problem"]["file"]["ctime_ns"] = 9;
  EXPECT_EQ(refusal_of(file.dump()), "");
  file["kernels"][0]["problem"]["file"]["path"] = "a.mtx";
  EXPECT_EQ(refusal_of(file.dump()),
            "my.json: kernels[0].problem.file.path: found \"a.mtx\", expected an absolute path");
  file["kernels"][0]["problem"]["file"] = {{"path", "/x/a.mtx"}, {"size_bytes", 5}};
  EXPECT_NE(refusal_of(file.dump()).find("'mtime_ns' is missing"), std::string::npos);
}

TEST(NodeFileTest, ASecondEntryOfTheSameStreamIsRefused) {
  Json file = written();
  file["streams"].push_back(file["streams"][0]);
  EXPECT_EQ(refusal_of(file.dump()),
            "my.json: streams[1].kernel: found \"read\", expected another kernel or tier than streams[0]");
  file["streams"][1]["tier"] = "/dev/shm";
  EXPECT_EQ(refusal_of(file.dump()), "");
}

TEST(NodeFileTest, ASecondEntryOfTheSameKernelIsRefused) {
  Json file = written();
  file["kernels"].push_back(file["kernels"][1]);
  const std::string last = "kernels[" + std::to_string(file["kernels"].size() - 1) + "]";
  EXPECT_EQ(refusal_of(file.dump()),
            "my.json: " + last +
                ".kernel: found \"transfer\", expected another kernel, problem, tier or synced "
                "than kernels[1]");
  file["kernels"].back()["synced"] = true;
  EXPECT_EQ(refusal_of(file.dump()), "");
  file["kernels"].back()["synced"] = false;
  file["kernels"].back()["problem"]["matrix"] = "another.mtx";
  EXPECT_EQ(refusal_of(file.dump()), "");
}

TEST(NodeFileTest, ASecondRowOfTheSamePairAndSplitIsRefusedInAnyEntry) {
  const Json pair = {{"first", "generate"},
                     {"second", "transfer"},
                     {"problem", {{"rows", 10}, {"nonzeros", 20}}},
                     {"tier", "/dev/shm"},
                     {"rows", {{1, 3, 0.5, 0.25}}}};
  Json file = written();
  file["pairs"] = {pair, pair};
  file["pairs"][1]["rows"] = {{2, 2, 0.5, 0.25}};
  EXPECT_EQ(refusal_of(file.dump()), "");
  file["pairs"][1]["rows"].push_back({1, 3, 0.5, 0.25});
  EXPECT_EQ(refusal_of(file.dump()),
            "my.json: pairs[1].rows[1][0]: found 1, expected a new split: 1 and 3 threads already have a "
            "row");
  file["pairs"][1]["second"] = "analyze";
  EXPECT_EQ(refusal_of(file.dump()), "");
}

Json pair_of(int first_threads, int second_threads) {
  Json row = {first_threads, second_threads, 0.5, 0.25};
  return {{"first", "generate"},
          {"second", "transfer"},
          {"problem", {{"rows", 10}, {"nonzeros", 20}}},
          {"tier", "/dev/shm"},
          {"rows", Json::array({std::move(row)})}};
}

TEST(NodeFileTest, APairHasGenerateFirstAndACopyOrASweepSecond) {
  Json file = written();
  file["pairs"] = Json::array({pair_of(1, 3)});
  for (const char* second : {"transfer", "transfer_reduced", "analyze", "sweep"}) {
    file["pairs"][0]["second"] = second;
    EXPECT_EQ(refusal_of(file.dump()), "") << second;
  }
  file["pairs"][0]["second"] = "commit";
  EXPECT_EQ(refusal_of(file.dump()),
            "my.json: pairs[0].second: found \"commit\", expected one of transfer, transfer_reduced, analyze, sweep");
  file["pairs"][0]["first"] = "analyze";
  EXPECT_EQ(refusal_of(file.dump()), "my.json: pairs[0].first: found \"analyze\", expected generate");
}

TEST(NodeFileTest, APairUsesAtMostTheCoresOfTheNode) {
  Json file = written();
  file["pairs"] = Json::array({pair_of(1, 4)});
  EXPECT_EQ(refusal_of(file.dump()),
            "my.json: pairs[0].rows[0][1]: found 4, expected at most 3: both kernels together have the 4 cores of the "
            "node");
  file["pairs"] = Json::array({pair_of(4, 1)});
  EXPECT_EQ(refusal_of(file.dump()), "my.json: pairs[0].rows[0][0]: found 4, expected less than the node's cores (4)");
}

TEST(NodeFileTest, AllPairsTogetherHaveALimitedNumberOfRows) {
  Json file = written();
  file["cores"] = 1000;
  file["pairs"] = {pair_of(1, 1), pair_of(500, 2)};
  file["pairs"][0]["rows"] = Json::array();
  for (int row = 0; row < 4096; ++row) file["pairs"][0]["rows"].push_back({1 + row % 64, 1 + row / 64, 0.5, 0.25});
  EXPECT_NE(refusal_of(file.dump()).find("pairs[1].rows: found a list, expected at most 4096 rows in all pairs"),
            std::string::npos);
  file["pairs"].erase(1);
  EXPECT_EQ(refusal_of(file.dump()), "");
}

TEST(NodeFileTest, AKeyThatAnObjectHasTwiceIsRefused) {
  const std::string text = written().dump();
  EXPECT_EQ(refusal_of("{\"name\": \"first\", " + text.substr(1)),
            "my.json: found the key 'name' twice in one object, expected each key once");
  const std::string tier = "\"kind\":\"tmpfs\"";
  std::string inner = text;
  inner.replace(inner.find(tier), tier.size(), tier + "," + tier);
  EXPECT_EQ(refusal_of(inner), "my.json: found the key 'kind' twice in one object, expected each key once");
}

TEST(NodeFileTest, TheCoresAreThoseOfTheFingerprint) {
  Node node = four_cores();
  node.fingerprint = Fingerprint{"a cpu", 5, "0-4", 1u << 30, "6.1", "0.2.0"};
  EXPECT_EQ(refusal_of(to_json(node).dump()), "my.json: cores: found 4, expected 5, the cores of the fingerprint");
}

TEST(NodeFileTest, TheTimeOfTheMeasurementIsInUtc) {
  Json file = written();
  file["measured_at"] = "2026-11-23T01:00:00Z";
  EXPECT_EQ(refusal_of(file.dump()), "");
  for (const char* time : {"", "today", "2026-11-23T01:00:00", "2026-11-23 01:00:00Z", "2026-11-23T01:00:00Z\u001b"}) {
    file["measured_at"] = time;
    EXPECT_NE(refusal_of(file.dump()).find("expected a time in UTC such as \"2026-11-23T01:00:00Z\""),
              std::string::npos)
        << time;
  }
}

TEST(NodeFileTest, TheFirstTierSharesNoChannels) {
  Json file = written();
  file["tiers"][0]["shares_with"] = "/dev/shm";
  EXPECT_EQ(refusal_of(file.dump()),
            "my.json: tiers[0].shares_with: found \"/dev/shm\", expected no such key: the first tier has channels of "
            "its own");
}

TEST(NodeFileTest, ATextIsOnlyMadeOfWhatReadsBack) {
  Node node = four_cores();
  EXPECT_EQ(to_json(parse_node(node_text(node), "my.json")).dump(), to_json(node).dump());
  node.costs.loan_s = Measured{.value = 0};
  try {
    node_text(node);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kSystem);
    EXPECT_NE(std::string(error.what()).find("costs.loan_s"), std::string::npos) << error.what();
  }
}

TEST(NodeFileTest, TheFirstTierMustBeDramAndNamesMustDiffer) {
  Json file = written();
  file["tiers"][0]["kind"] = "dax";
  EXPECT_NE(refusal_of(file.dump()), "");
  file = written();
  file["tiers"][1]["name"] = "dram";
  EXPECT_NE(refusal_of(file.dump()), "");
}

TEST(NodeFileTest, DeepNestingIsRefusedAndDoesNoHarm) {
  const std::string deep(500'000, '[');
  EXPECT_NE(refusal_of(deep + std::string(500'000, ']')).find("nested"), std::string::npos);
  Json file = written();
  file["name"] = Json::array({Json::array({1})});
  EXPECT_NE(refusal_of(file.dump()).find("found a list"), std::string::npos);
}

TEST(NodeFileTest, FiguresThatNoMachineHasAreRefused) {
  for (const Json& figure : {Json(1e300), Json(1e-300)}) {
    Json file = written();
    file["kernels"][0]["seconds"][0][1] = figure;
    EXPECT_NE(refusal_of(file.dump()), "") << figure;
  }
  Json file = written();
  file["kernels"][0]["seconds"][0][1] = {{"value", 1}, {"spread", 1e9}};
  EXPECT_NE(refusal_of(file.dump()).find("spread"), std::string::npos);
}

TEST(NodeFileTest, ANewerVersionIsRefused) {
  Json file = written();
  file["version"] = 2;
  EXPECT_NE(refusal_of(file.dump()).find("newer"), std::string::npos);
}

TEST(NodeFileTest, AFileThatIsNotThereSaysHowToGetOne) {
  try {
    read_node("/nonexistent/node.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("ringside calibrate"), std::string::npos);
  }
}

TEST(NodeFileTest, FiguresOfAnotherMachineAreRefusedNamingWhatDiffers) {
  const Fingerprint here{"a cpu", 4, "0-3", 1u << 30, "6.1", "0.2.0"};
  Node node = four_cores();
  EXPECT_THROW(refuse_foreign(node, "my.json", here), Error);  // written by hand
  node.fingerprint = here;
  EXPECT_NO_THROW(refuse_foreign(node, "my.json", here));
  const auto refusal = [&](const Fingerprint& there) -> std::string {
    node.fingerprint = there;
    try {
      refuse_foreign(node, "my.json", here);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  Fingerprint other = here;
  other.cpu = "another";
  EXPECT_NE(refusal(other).find("processor: found another, here it is a cpu"), std::string::npos);
  other = here;
  other.cpus = "0-2,4";
  EXPECT_NE(refusal(other).find("0-2,4"), std::string::npos);
  other = here;
  other.kernel = "6.2";
  EXPECT_NE(refusal(other).find("6.2"), std::string::npos);
  other = here;
  other.build = "0.3.0";
  EXPECT_NE(refusal(other).find("build of Ringside"), std::string::npos);
}

}  // namespace
}  // namespace ringside
