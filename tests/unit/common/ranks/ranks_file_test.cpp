// SPDX-License-Identifier: BSD-3-Clause
// The ranks file: its bytes, as specified in docs/formats/files.md. Also tests that wrong statements about ranks and
// boxes are refused, each with its own message.
#include "common/ranks/ranks_file.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "common/json/json.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

// The file in docs/formats/files.md, which belongs to the ring of node 1.
constexpr const char* kGolden =
    R"({"ringside_ranks":1,"run_id":"000102030405060708090a0b0c0d0e0f","problem_id":"f0e0d0c0b0a090807060504030201000",)"
    R"("node":1,"variables":[{"name":"u","dtype":"f64","shape":[5,3],"role":"field","unit":"K"},)"
    R"({"name":"basis","dtype":"i32","shape":[],"role":"state","unit":""}],"nodes":[{"node":0,"host":"n01",)"
    R"("pool":"/scratch/ring-n01.pool","ranks":[{"rank":0,"boxes":[{"offset":[0,0],"extent":[2,3]},null]},)"
    R"({"rank":1,"boxes":[{"offset":[2,0],"extent":[1,3]},null]}]},{"node":1,"host":"n02","pool":"",)"
    R"("ranks":[{"rank":2,"boxes":[{"offset":[3,0],"extent":[2,3]},null]}]}]})"
    "\n";

Box rows(std::uint64_t begin, std::uint64_t count) {
  return {.offset = {begin, 0}, .extent = {count, 3}};
}

RanksFile golden() {
  const Box all{.distribution = Distribution::kReplicated};
  return {.run_id = {0x0001020304050607, 0x08090a0b0c0d0e0f},
          .problem_id = {0xf0e0d0c0b0a09080, 0x7060504030201000},
          .variables = {{.name = "u", .dtype = DType::kF64, .shape = {5, 3}, .unit = "K"},
                        {.name = "basis", .dtype = DType::kI32, .role = Role::kState}},
          .nodes = {{"n01", "/scratch/ring-n01.pool", {{0, {rows(0, 2), all}}, {1, {rows(2, 1), all}}}},
                    {"n02", "", {{2, {rows(3, 2), all}}}}},
          .node = 1};
}

/// The line with which the golden file is refused after `change`, between the name of the file and that of its
/// document.
template <class Change>
std::string file_refusal(Change&& change) {
  Json file = Json::parse(kGolden);
  change(file);
  return between("r.ranks: ", failure_line([&] { parse_ranks(file.dump(), "r.ranks"); }), " (docs/formats/files.md)");
}

TEST(RanksFile, HasTheBytesOfItsDocument) {
  EXPECT_EQ(to_text(golden()), kGolden);
}

TEST(RanksFile, IsReadAsItWasWritten) {
  const RanksFile read = parse_ranks(kGolden, "r.ranks");
  EXPECT_EQ(to_text(read), kGolden);
  EXPECT_EQ(read.node, 1u);
  EXPECT_EQ(read.ranks(), 3u);
  EXPECT_EQ(read.name_of(0), "node 0 (ranks 0 to 1)");
  EXPECT_EQ(read.name_of(1), "node 1 (rank 2)");
  EXPECT_EQ(read.layout_of(0).regions, "u f64[5,3] K: rows 0 to 2; basis i32 state: replicated");
  EXPECT_EQ(to_text(read.layout_of(1).schema), "u f64[2,3] K, basis i32 state");
}

TEST(RanksFile, TheNodeOfAFileThatIsTheSameOtherwiseIsKnownWithoutParsing) {
  const RanksOfOtherNodes others(golden());
  EXPECT_EQ(others.node_of(kGolden), 1u);
  const auto with_node = [](const std::string& node) {
    std::string text = kGolden;
    return text.replace(text.find("\"node\":1,") + 7, 1, node);
  };
  EXPECT_EQ(others.node_of(with_node("0")), 0u);
  for (const char* node : {"2", "", "-1", "01", "1 ", "1.0", "4294967296", "1,\"node\":1"}) {
    EXPECT_EQ(others.node_of(with_node(node)), std::nullopt) << node;
  }
  std::string other = kGolden;
  other.replace(other.find("n02"), 3, "n03");
  EXPECT_EQ(others.node_of(other), std::nullopt);
  EXPECT_EQ(others.node_of(std::string(kGolden) + "\n"), std::nullopt);
  EXPECT_EQ(others.node_of(""), std::nullopt);
}

TEST(RanksFile, LiesBesideItsPoolForTheOwnerAlone) {
  const testing::TemporaryFolder folder;
  const std::string pool = folder.file("p");
  write_ranks(pool, golden());
  EXPECT_EQ(to_text(read_ranks(pool + ".ranks")), kGolden);
  EXPECT_EQ(testing::mode_of(pool + ".ranks"), 0600u);
  RanksFile other = golden();
  other.node = 0;
  write_ranks(pool, other);
  EXPECT_EQ(read_ranks(pool + ".ranks").node, 0u);
  remove_ranks(pool);
  remove_ranks(pool);
  EXPECT_EQ(failure_line([&] { read_ranks(pool + ".ranks"); }),
            pool + ".ranks: there is no such file, expected a ranks file (docs/formats/files.md)");
}

TEST(RanksFile, BoxesThatOverlapOrLeaveAGapAreRefused) {
  EXPECT_EQ(file_refusal([](auto& file) { file["nodes"][1]["ranks"][0]["boxes"][0]["offset"][0] = 2; }),
            "variable 'u': the boxes of ranks 1 (offset [2,0] extent [1,3]) and 2 (offset [2,0] extent [2,3]) overlap");
  EXPECT_EQ(file_refusal([](auto& file) { file["nodes"][1]["ranks"][0]["boxes"][0]["extent"][0] = 1; }),
            "variable 'u': the boxes of all ranks cover 12 of its 15 entries; no rank has row 4");
  EXPECT_EQ(file_refusal([](auto& file) { file["nodes"][1]["ranks"][0]["boxes"][0] = nullptr; }),
            "variable 'u': it is replicated on rank 2 and distributed on rank 0; expected the same on all ranks");
}

TEST(RanksFile, HugeNumbersAreRefused) {
  EXPECT_NE(file_refusal([](auto& file) {
              file["nodes"][1]["ranks"][0]["boxes"][0]["offset"][0] = ~std::uint64_t{0};
            }).find("expected one within [5,3]"),
            std::string::npos);
  EXPECT_NE(file_refusal([](auto& file) {
              file["variables"][0]["shape"] = {1ull << 40, 1ull << 40};
            }).find("64-bit"),
            std::string::npos);
  EXPECT_EQ(file_refusal([](auto& file) { file["nodes"][1]["ranks"][0]["rank"] = 4'000'000; }),
            "node 1: found rank 4000000, expected each rank from 0 to 2 once");
  EXPECT_EQ(file_refusal([](auto& file) { file["nodes"][1]["ranks"][0]["rank"] = -1; }),
            "nodes[1].ranks[0].rank: found -1, expected a whole number from 0 to 4194303");
  EXPECT_EQ(file_refusal([](auto& file) { file["node"] = 2; }), "node: found 2, expected a whole number from 0 to 1");
}

TEST(RanksFile, MissingNodesAndRanksAreRefused) {
  EXPECT_EQ(file_refusal([](auto& file) { file["nodes"] = Json::array({file["nodes"][1]}); }),
            "nodes[0].node: found 1, expected 0: nodes in ascending order");
  EXPECT_EQ(file_refusal([](auto& file) {
              Json& ranks = file["nodes"][0]["ranks"];
              ranks = Json::array({ranks[0]});
            }),
            "node 1: found rank 2, expected each rank from 0 to 1 once");
  EXPECT_EQ(file_refusal([](auto& file) { file["nodes"][0]["ranks"][1]["rank"] = 0; }),
            "node 0: found rank 0 twice, expected each rank from 0 to 2 once");
}

TEST(RanksFile, ListsInListsAreRefusedHoweverDeepTheyAre) {
  constexpr std::size_t kDeep = 200'000;
  const std::string list = std::string(kDeep, '[') + std::string(kDeep, ']');
  std::string objects;
  for (std::size_t i = 0; i < kDeep; ++i) objects += R"({"a":)";
  objects += "1" + std::string(kDeep, '}');
  const auto refusal_of = [](const std::string& text) { return failure_line([&] { parse_ranks(text, "f"); }); };
  EXPECT_EQ(refusal_of(R"({"ringside_ranks":1,"run_id":)" + list + "}"),
            "f: run_id: found a list of 1, expected a text of at most 8192 bytes (docs/formats/files.md)");
  EXPECT_EQ(refusal_of(R"({"ringside_ranks":1,"run_id":)" + objects + "}"),
            "f: run_id: found an object, expected a text of at most 8192 bytes (docs/formats/files.md)");
  EXPECT_EQ(refusal_of(R"({"ringside_ranks":)" + list + "}"),
            "f: ringside_ranks: found a list of 1, expected 1: the version of this release (docs/formats/files.md)");
  const std::string no_ranks_file =
      "f: is not a ranks file; expected an object with \"ringside_ranks\": 1 (docs/formats/files.md)";
  EXPECT_EQ(refusal_of(list), no_ranks_file);
  EXPECT_EQ(refusal_of(objects), no_ranks_file);
  EXPECT_EQ(refusal_of(std::string(kDeep, '[')), no_ranks_file);
}

TEST(RanksFile, AnythingElseIsRefused) {
  EXPECT_EQ(failure_line([] { parse_ranks("{\"version\": 1}", "f"); }),
            "f: is not a ranks file; expected an object with \"ringside_ranks\": 1 (docs/formats/files.md)");
  EXPECT_NE(failure_line([] { parse_ranks("", "f"); }), "");
  EXPECT_EQ(file_refusal([](auto& file) { file["ringside_ranks"] = 2; }),
            "ringside_ranks: found 2, expected 1: the version of this release");
  for (const char* key : {"run_id", "problem_id", "node", "variables", "nodes"}) {
    EXPECT_NE(file_refusal([&](auto& file) { file.erase(key); }).find(key), std::string::npos);
    EXPECT_NE(file_refusal([&](auto& file) { file[key] = "x"; }).find(key), std::string::npos);
  }
  EXPECT_NE(file_refusal([](auto& file) { file["variables"][0]["name"] = "u v"; }), "");
  EXPECT_NE(file_refusal([](auto& file) { file["variables"][0]["dtype"] = "f128"; }), "");
  EXPECT_NE(file_refusal([](auto& file) {
              Json& boxes = file["nodes"][0]["ranks"][0]["boxes"];
              boxes = Json::array({boxes[0]});
            }),
            "");
  EXPECT_NE(file_refusal([](auto& file) { file["nodes"][0]["ranks"][0]["boxes"][0]["extent"] = {2}; }), "");
}

}  // namespace
}  // namespace ringside
