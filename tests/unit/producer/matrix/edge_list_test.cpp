// SPDX-License-Identifier: BSD-3-Clause
// How many rows an edge list has, which row each id has, and which texts are refused.
#include "producer/matrix/edge_list.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/producer/openmp_threads.hpp"

namespace ringside {
namespace {

using testing::Entries;
using testing::entries_of;
using Ids = std::vector<std::uint64_t>;

CsrMatrix read_list(std::string_view text, Orientation orientation = Orientation::kRows) {
  return read_edge_list(text, "a.txt", orientation);
}

CsrMatrix read_columns(std::string_view text, const std::string& columns) {
  return read_edge_list(text, "a.txt", Orientation::kRows, parse_edge_columns(columns));
}

std::string list_error(std::string_view text) {
  return failure_line([&] { read_list(text); });
}

Ids ids_of(const CsrMatrix& matrix) {
  return {matrix.id.begin(), matrix.id.end()};
}

TEST(EdgeList, AnEdgeLinksTheFirstIdToTheSecond) {
  EXPECT_EQ(entries_of(read_list("0 1\n")), (Entries{{0, 1, 1}}));
  EXPECT_EQ(entries_of(read_list("0 1\n", Orientation::kInLinks)), (Entries{{1, 0, 1}}));
}

TEST(EdgeList, SeparatorsCommentsAndLineEndingsDoNotMatter) {
  const CsrMatrix plain = read_list("0 1\n1 2\n2 0\n");
  for (const char* text : {"0\t1\n1\t2\n2\t0", "0,1\r\n1,2\r\n2,0\r\n", "# c\n0 , 1\n% d\n\n  1  2  \n2 0\n#",
                           "0 1\r1 2\r2 0\r", "0,1,\n1,2,\n2,0,\n"}) {
    SCOPED_TRACE(text);
    testing::expect_same_matrix(read_list(text), plain);
  }
}

TEST(EdgeList, WithoutAnAnnouncementTheRowsAreTheDistinctIds) {
  const CsrMatrix matrix = read_list("10 7\n7 1000000\n");
  EXPECT_EQ(matrix.rows, 3u);
  EXPECT_EQ(ids_of(matrix), (Ids{7, 10, 1000000}));
  EXPECT_EQ(entries_of(matrix), (Entries{{0, 2, 1}, {1, 0, 1}}));
}

TEST(EdgeList, IdsFromZeroWithoutGapsNeedNoNames) {
  EXPECT_TRUE(read_list("0 1\n2 0\n").id.empty());
}

TEST(EdgeList, IdsFromOneKeepTheirNames) {
  EXPECT_EQ(ids_of(read_list("1 2\n2 3\n")), (Ids{1, 2, 3}));
}

TEST(EdgeList, HugeIdsAreCompactedToo) {
  const CsrMatrix matrix = read_list("18446744073709551615 0\n5000000000 18446744073709551615\n");
  EXPECT_EQ(ids_of(matrix), (Ids{0, 5000000000, 18446744073709551615u}));
  EXPECT_EQ(entries_of(matrix), (Entries{{1, 2, 1}, {2, 0, 1}}));
}

TEST(EdgeList, AFirstLineThatCountsNodesAndEdgesGivesTheRows) {
  const CsrMatrix zero_based = read_list("5 2\n0 1\n1 2\n");
  EXPECT_EQ(zero_based.rows, 5u);
  EXPECT_EQ(zero_based.nonzeros(), 2u);
  EXPECT_TRUE(zero_based.id.empty());
  const CsrMatrix one_based = read_list("# comment\n3 2\n1 2\n2 3\n");
  EXPECT_EQ(one_based.rows, 3u);
  EXPECT_EQ(ids_of(one_based), (Ids{1, 2, 3}));
  const CsrMatrix weighted = read_list("4 1\n1 2 0.5\n");
  EXPECT_EQ(weighted.rows, 4u);
  EXPECT_EQ(entries_of(weighted), (Entries{{1, 2, 0.5}}));
}

TEST(EdgeList, AFirstLineThatDoesNotCountTheRestIsAnEdge) {
  EXPECT_EQ(read_list("5 3\n0 1\n1 2\n").nonzeros(), 3u);  // fewer than 3 edges follow
  EXPECT_EQ(read_list("2 2\n0 1\n1 3\n").nonzeros(), 3u);  // with two nodes, 3 is not an id
  EXPECT_EQ(read_list("0 0\n").nonzeros(), 1u);
}

TEST(EdgeList, AFirstLineMayCountNodesWithoutAnEdge) {
  for (const char* const text : {"8 0\n", "# c\n8 0", "8,0\r\n\n# end\n"}) {
    EXPECT_EQ(read_list(text).rows, 8u) << text;
    EXPECT_EQ(read_list(text).nonzeros(), 0u) << text;
  }
  EXPECT_EQ(entries_of(read_columns("8 0\n", "from,to")), (Entries{{1, 0, 1}}));
}

TEST(EdgeList, ASizeLineOfMatrixMarketIsNoEdge) {
  expect_has(list_error("3 3 2\n1 2 0.5\n2 3 1\n"),
             {"line 1: found '3 3 2', which gives the numbers of rows, columns and following lines, expected a "
              "MatrixMarket banner above it, or `--columns from,to,weight`"});
  EXPECT_EQ(read_columns("3 3 2\n1 2 0.5\n2 3 1\n", "from,to,weight").nonzeros(), 3u);
  EXPECT_EQ(read_list("3 3 2\n1 2 0.5\n").nonzeros(), 2u);
  EXPECT_EQ(read_list("3 3 2\n1 2 0.5\n2 4 1\n").nonzeros(), 3u);
}

TEST(EdgeList, ColumnsSayWhatEachColumnIs) {
  const Entries unweighted{{0, 1, 1}, {1, 2, 1}};
  EXPECT_EQ(entries_of(read_columns("0 1 1082040961\n1 2 1082040962\n", "from,to,skip")), unweighted);
  EXPECT_TRUE(read_columns("0 1 1082040961\n1 2 1082040962\n", "from,to,skip").is_pattern());
  EXPECT_EQ(entries_of(read_columns("1 0\n2 1\n", "to,from")), unweighted);
  EXPECT_EQ(entries_of(read_columns("0 1 3 77\n1 2 .5 78\n", "from,to,weight,skip")), (Entries{{0, 1, 3}, {1, 2, .5}}));
  EXPECT_EQ(entries_of(read_columns("a,3,0,xy,1\n,0.5,1,,2\n", "skip,weight,from,skip,to")),
            (Entries{{0, 1, 3}, {1, 2, .5}}));
  EXPECT_EQ(entries_of(read_columns("0,1,\n1,2,\n", "from,to,skip")), unweighted);
  EXPECT_EQ(entries_of(read_columns("3 2\n0 1 9\n1 2 9\n", "from,to,skip")), unweighted);  // 3 nodes, 2 edges
}

TEST(EdgeList, ColumnsThatALineLacksOrHasTooManyOfAreNamed) {
  const auto error = [](std::string_view text, const std::string& columns) {
    return failure_line([&] { read_columns(text, columns); });
  };
  expect_has(error("0 1 7\n1 2\n", "from,to,skip"), {"line 2: found '1 2', expected 'from to skip' as in --columns"});
  expect_has(error("0 1\n1 2 7\n", "from,to,skip"), {"line 1: found '0 1', expected 'from to skip'"});
  expect_has(error("0 1 7\n", "from,to"), {"line 1: found '7' after the edge, expected 'from to'"});
  expect_has(error("0 1,\n", "from,to,weight"), {"line 1: found '0 1,', expected 'from to weight'"});
  expect_has(list_error("0 1 1 9\n"), {"`--columns from,to,weight,skip` names the columns"});
}

TEST(EdgeList, AHeadNamesTheColumns) {
  const Entries weighted{{0, 1, 3}, {1, 2, 0.5}};
  EXPECT_EQ(entries_of(read_list("source,target,weight\n0,1,3\n1,2,0.5\n")), weighted);
  EXPECT_EQ(entries_of(read_list("# c\r\n\"Weight\",\"Target\",\"Source\"\r\n3,1,0\r\n.5,2,1\r\n")), weighted);
  EXPECT_EQ(entries_of(read_list("from to\n0 1\n1 2\n")), (Entries{{0, 1, 1}, {1, 2, 1}}));
  EXPECT_EQ(entries_of(read_columns("a,b,time\n0,1,5\n1,2,6\n", "from,to,skip")), (Entries{{0, 1, 1}, {1, 2, 1}}));
  expect_has(list_error("source,target,time\n0,1,5\n"),
             {"line 1: found a column 'time' in the header line, expected "});
  expect_has(list_error("source,weight\n0,1\n"), {"line 1: found the header line 'source weight', expected "});
  expect_has(list_error("source,target\n0,1\n1,x\n"), {"line 3: found 'x', expected a node id in 'source target' as"});
  expect_has(list_error("source,target\n"), {"found no edge"});
}

TEST(EdgeList, ColumnsHaveOneFromAndOneTo) {
  for (const char* const wrong : {"from", "from,to,from", "to,skip", "from,to,weight,weight", "from,to,time",
                                  "from,,to", "from to", ",", "from,to,"}) {
    const std::string error = failure_line([&] { parse_edge_columns(wrong); });
    EXPECT_EQ(error.find("--columns: found "), 0u) << wrong << ": " << error;
  }
}

TEST(EdgeList, ANodesCommentGivesTheRowsIfEveryIdFits) {
  EXPECT_EQ(read_list("# Nodes: 6 Edges: 1\n# From To\n0 1\n").rows, 6u);
  EXPECT_EQ(read_list("# Nodes: 6 Edges: 1\n5 6\n").rows, 6u);
  EXPECT_EQ(ids_of(read_list("# Nodes: 6 Edges: 1\n5 6\n"))[0], 1u);
  EXPECT_EQ(ids_of(read_list("# Nodes: 6 Edges: 1\n5 7\n")), (Ids{5, 7}));
}

TEST(EdgeList, AnAnnouncementOfTooManyNodesIsRefused) {
  expect_has(list_error("# Nodes: 99999999999\n0 1\n"), {"line 1: found 99999999999 rows, expected at most 8388608"});
  expect_has(list_error("8388609 1\n0 1\n"), {"line 1: found 8388609 rows"});
  EXPECT_EQ(read_list("8388608 1\n0 1\n").rows, 8388608u);
}

TEST(EdgeList, DuplicatesCollapseOrAddUpSelfLoopsStayZerosGo) {
  EXPECT_EQ(entries_of(read_list("0 1\n0 1\n1 1\n")), (Entries{{0, 1, 1}, {1, 1, 1}}));
  EXPECT_EQ(entries_of(read_list("0 1 2\n0 1 0.5\n1 1 0\n1 0 3\n")), (Entries{{0, 1, 2.5}, {1, 0, 3}}));
}

TEST(EdgeList, WhatWasWrittenIsReadForEveryNumberOfThreads) {
  std::mt19937_64 random(3);
  const testing::OpenMpThreads restored;
  for (const std::uint64_t spread : {std::uint64_t{3}, std::uint64_t{1} << 15, std::uint64_t{1} << 50}) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, double> edges;
    std::string text;
    std::set<std::uint64_t> ids;
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t from = random() % 200 * spread;
      const std::uint64_t to = random() % 200 * spread + 1;
      const auto weight = static_cast<double>(1 + random() % 100);
      edges[{from, to}] += weight;
      ids.insert({from, to});
      text += fmt::format("{} {} {}\n", from, to, weight);
    }
    const Ids names(ids.begin(), ids.end());
    for (const int threads : {1, 2, 3, 7}) {
      omp_set_num_threads(threads);
      const CsrMatrix matrix = read_list(text);
      ASSERT_EQ(ids_of(matrix), names);
      std::map<std::pair<std::uint64_t, std::uint64_t>, double> found;
      for (const auto& [row, column, value] : entries_of(matrix)) found[{names[row], names[column]}] = value;
      EXPECT_EQ(found, edges);
    }
  }
}

TEST(EdgeList, EachWayToBeWrongHasItsLine) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"0 1\n-3 2\n", "line 2: found '-3', expected a node id in 'u v' or 'u v weight'"},
      {"0 1\n2 b\n", "line 2: found 'b'"},
      {"a,b\n0,1\n", "line 1: found 'a'"},
      {"0;1\n", "line 1: found '0;1', expected columns separated by blanks, tabs or commas"},
      {"0 1\n2\n", "line 2: found '2', expected 'u v' or"},
      {"0 1\n0,,1\n", "line 2: found '"},
      {"0 1 2\n0 1,,2\n", "line 2: found '"},
      {"0 1\n1 2.0 3\n", "line 2: found '2.0'"},
      {"0 1 1\n1 2 x\n", "line 2: found 'x', expected a weight"},
      {"0 1 1\n1 2 1e400\n", "line 2: found '1e400', expected a weight"},
      {"0 1 1 9\n", "line 1: found '9' after the edge"},
      {"0 1\n# c\n1 2 0.5\n", "line 3: found '1 2 0.5', expected 'u v' as in line 1"},
      {"0 1 1\n1 2\n", "line 2: found '1 2', expected 'u v weight' as in line 1"},
      {"9 3\n0 1 1\n1 2\n2 3 1\n", "line 3: found '1 2', expected 'u v weight' as in line 2"},
      {"18446744073709551616 1\n",
       "line 1: found '18446744073709551616', expected a node id in 'u v' or 'u v weight' (ids are "
       "whole numbers from 0 to 18446744073709551615)"}};
  for (const auto& [text, message] : wrong)
    EXPECT_EQ(list_error(text).find("a.txt: " + message), 0u) << text << "\ngave: " << list_error(text);
  for (const char* text : {"", "\n\n", "# Nodes: 3\n"}) expect_has(list_error(text), {"found no edge"});
}

}  // namespace
}  // namespace ringside
