// SPDX-License-Identifier: BSD-3-Clause
// What PageRank refuses. The messages name links and nodes as the input names them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "common/platform/error.hpp"
#include "producer/solver/pagerank.hpp"
#include "tests/reference/small_matrix.hpp"

namespace ringside {
namespace {

using namespace reference;

constexpr double kAnyDamping = 0.85;

std::string refusal_of(CsrMatrix matrix, double damping) {
  try {
    make_pagerank(std::move(matrix), damping);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  return "accepted";
}

TEST(PagerankRefusals, RefusesADampingOutsideZeroToOne) {
  const double nan = std::nan("");
  for (const double damping : {0.0, 1.0, -0.1, 1.5, nan}) {
    EXPECT_NE(refusal_of(build_graph(2, {{0, 1}}), damping).find("--damping"), std::string::npos) << damping;
  }
}

TEST(PagerankRefusals, RefusesWeightsThatAreNegativeOrNotFiniteAndNamesTheLink) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double weight : {-1.0, infinity, std::nan("")}) {
    const auto message = refusal_of(build_weighted_graph(4, {{0, 1, 1}, {3, 2, weight}, {2, 3, 1}}), kAnyDamping);
    EXPECT_NE(message.find("in row 4, column 3 (counted from 1)"), std::string::npos) << message;
  }
}

TEST(PagerankRefusals, NamesNodesByTheIdsOfTheInputWhereItHasSome) {
  CsrMatrix graph = build_weighted_graph(2, {{1, 0, -2}});
  graph.id = Array<std::uint64_t>(2);
  graph.id[0] = 17;
  graph.id[1] = 4000;
  const auto message = refusal_of(graph, kAnyDamping);
  EXPECT_NE(message.find("on the edge 4000 17"), std::string::npos) << message;
}

TEST(PagerankRefusals, RefusesWeightsTooExtremeToNormalise) {
  EXPECT_NE(refusal_of(build_weighted_graph(2, {{0, 1, 1e-310}}), kAnyDamping).find("in row 1 (counted from 1)"),
            std::string::npos);
  EXPECT_NE(refusal_of(build_weighted_graph(3, {{0, 1, 1e308}, {0, 2, 1e308}}), kAnyDamping)
                .find("in row 1 (counted from 1)"),
            std::string::npos);
}

TEST(PagerankRefusals, RefusesAMatrixThatIsEmptyOrNotSquare) {
  EXPECT_NE(refusal_of(build_graph(0, {}), kAnyDamping).find("no nodes"), std::string::npos);
  CsrMatrix wide = build_graph(3, {{0, 1}});
  wide.columns = 5;
  EXPECT_NE(refusal_of(wide, kAnyDamping).find("3 rows and 5 columns"), std::string::npos);
}

}  // namespace
}  // namespace ringside
